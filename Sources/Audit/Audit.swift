// Room prepared; see Package.swift.
