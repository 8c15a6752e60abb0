"""Says of each case whether the value fits the schema: schemas.py CASES.json"""
import json
import sys

from jsonschema import Draft202012Validator

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)


def fits(schema, value):
    return Draft202012Validator({**schema, "components": given["components"]}).is_valid(value)


print(json.dumps([fits(schema, value) for schema, value in given["cases"]]))
