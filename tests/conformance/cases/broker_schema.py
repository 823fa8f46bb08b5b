# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Wire contract 2.4, local schemas: each keyword with each kind of value, by a reading of the text that is not the code's."""

from build import ELSEWHERE, KINDS, SERVED, many, one, pinned, refused, sent, tool

REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id"]
MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]
ONE_OR_MORE = [
    "items", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "propertyNames", "not", "if",
    "then", "else", "contentSchema", "additionalItems"
]
LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"]
DATA = [
    "enum", "const", "default", "examples", "dependentRequired", "type", "title", "required", "$anchor", "$dynamicAnchor",
    "$comment", "format", "x-any", "$Ref", "ref", "$defs2", "extends", "disallow", "$ref ", "", "id", "schema", "Items",
    "minItems", "contentMediaType", "nullable", "discriminator"
]


def is_local(schema):
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    for name in REFERENCES:
        if name in schema and not (isinstance(schema[name], str) and schema[name].startswith("#")):
            return False
    if "$vocabulary" in schema and not (isinstance(schema["$vocabulary"], dict)
                                        and all(n.startswith("#") for n in schema["$vocabulary"])):
        return False
    for name in MAPS:
        if name in schema and not (isinstance(schema[name], dict) and all(is_local(s) for s in schema[name].values())):
            return False
    for name in ONE_OR_MORE:
        if name in schema:
            value = schema[name]
            if not (all(is_local(s) for s in value) if isinstance(value, list) else is_local(value)):
                return False
    for name in LISTS:
        if name in schema and not (isinstance(schema[name], list) and all(is_local(s) for s in schema[name])):
            return False
    if isinstance(schema.get("dependencies"), dict):
        return all(isinstance(s, list) or is_local(s) for s in schema["dependencies"].values())
    return True


def schemas():
    values = list(KINDS.values()) + [
        "#", "#/a", "#a b", " #", "a#", "##", ELSEWHERE, ELSEWHERE + "#", "/a", "a", {"a": True}, {"#a": True}, {"a": {}},
        {"a": None}, {"a": []}, {"a": ["b"]}, {"a": [None]}, {"a": "b"}, {"a": {"$ref": ELSEWHERE}}, {"a": {"$ref": "#"}},
        {"$ref": ELSEWHERE}, {"$ref": "#"}, {"enum": [{"$ref": ELSEWHERE}]}, [True], [{}], [None], [[]], ["a"],
        [{}, {"$id": ELSEWHERE}], {ELSEWHERE: True}, {"#a": True, "b": True}
    ]
    for keyword in REFERENCES + ["$vocabulary"] + MAPS + ONE_OR_MORE + LISTS + ["dependencies"]:
        pairs = [({"body": {"messages": [], "tools":
                            [tool(parameters={keyword: value})]}}, SERVED if is_local({keyword: value}) else refused(400))
                 for value in values]
        many("schema", f"at-root-{keyword}", f"each kind of value of {keyword}", pairs)
        deep = [({
            "body": {"messages": [], "tools": [tool("a"),
                                               tool(parameters={"properties": {"p": {"items": {keyword: value}}}})]}
        }, SERVED if is_local({keyword: value}) else refused(400)) for value in values[::3]]
        many("schema", f"inside-{keyword}", f"values of {keyword} inside", deep)
    hidden = [{"$ref": ELSEWHERE}, [{"$ref": ELSEWHERE}], {"properties": {"a": {"$ref": ELSEWHERE}}}, None, 5, ELSEWHERE]
    many("schema", "data", "what is data is not looked into",
         [({"body": {"messages": [], "tools": [tool(parameters={keyword: value})]}}, SERVED) for keyword in DATA
          for value in hidden])
    whole = {
        keyword: {"$ref": "#/x"} if keyword in ONE_OR_MORE else [{"$ref": "#/x"}] if keyword in LISTS else {"p": {"$ref": "#/x"}}
        for keyword in ONE_OR_MORE + LISTS + MAPS
    }
    whole.update({"$id": "#i", "$schema": "#s", "$vocabulary": {"#v": False}, "dependencies": {"a": ["b"], "c": {"not": True}}})
    one("schema",
        "whole",
        "every keyword at once", {"body": {"messages": [], "tools": [tool(parameters=whole)]}},
        SERVED,
        expect_upstream=sent(pinned([], tools=[tool(parameters=whole)])))
    named = {
        "properties":
        {keyword: {"type": "string"} for keyword in REFERENCES + MAPS + LISTS + ["enum", "dependencies", "$vocabulary"]}
    }
    one("schema",
        "named",
        "properties that are named like keywords", {"body": {"messages": [], "tools": [tool(parameters=named)]}},
        SERVED,
        expect_upstream=sent(pinned([], tools=[tool(parameters=named)])))
    one(
        "schema", "second", "the schema of each tool is looked at", {
            "body": {
                "messages": [], "tools":
                [tool(f"f{i}", parameters={"$ref": ELSEWHERE} if i == 99 else {"$ref": "#"}) for i in range(100)]
            }
        }, refused(400))


def add():
    schemas()
