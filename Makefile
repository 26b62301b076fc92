# Every target installs what it needs first (.ci/setup), builds, then runs. `make ci` is exactly what CI runs.
SHELL := /bin/bash
SWIFT ?= swift
PYTHON := .build/venv/bin/python

.PHONY: help setup build release test e2e lint format imports tsan fuzz soak bench demo ci clean

help:
	@echo "make demo     publish, serve, sync and run a real model, then show a tampered one refused"
	@echo "make test     every test, with one closing line of counts"
	@echo "make fuzz     look for bytes that break a reader: SECONDS_EACH=60, READERS='onnx json'"
	@echo "make soak     the long forms of what make test runs short, with a report"
	@echo "make bench    measure against named peers"
	@echo "make ci       what CI runs: lint, imports, test, Apple's files, thread sanitizer, release build, demo"

setup:
	@.ci/setup

build: setup
	$(SWIFT) build

release: setup
	@.ci/release

test: setup
	@.ci/test

e2e: setup
	@.ci/test EndToEndTests

lint: setup
	@.ci/lint

format:
	swift format format -i -r --configuration .swift-format Package.swift Sources Tests

imports:
	@.ci/check-imports

tsan: setup
	@.ci/tsan

fuzz: setup
	@SECONDS_EACH=$${SECONDS_EACH:-60} .ci/fuzz $(READERS)

soak: setup
	@.ci/soak

bench: release
	@.ci/bench

demo: release
	@.ci/demo

ci:
	@.ci/run-all

clean:
	rm -rf .build
