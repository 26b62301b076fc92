print("sealift")
