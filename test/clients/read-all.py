"""Calls every GET operation of openapi.json with Python's standard library alone and checks the answers.

    python3 read-all.py openapi.json http://127.0.0.1:8080 API_KEY [API_TOKEN]

Prints a line for each request. Exit code 1 when an answer is not as described. An identifier comes from an earlier
answer of the same service, any other value of a path from its example.
"""

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

file, base_url, api_key, api_token = (sys.argv + [""])[1:5]
with open(file, encoding="utf-8") as text:
    description = json.load(text)
operations = {
    operation["operationId"]: (path, operation)
    for path, methods in description["paths"].items()
    for method, operation in methods.items()
    if method == "get"
}

JSON = "application/json"
XML = ("application/xml", "application/atom+xml", "application/rdf+xml")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
ANNOTATIONS = {"$ref", "description", "example", "default", "deprecated", "xml", "format", "type"}


def resolve(part):
    """The component that a reference leads to, or the part itself."""
    while "$ref" in part:
        target = description
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        part = target
    return part


def problems(schema, value, at="$"):
    """What is wrong with a value by its JSON Schema; a keyword that is not known here is an error."""
    schema = resolve(schema)
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{at}: expected {kind}, got {json.dumps(value)[:80]}"]
    found = []
    for keyword, rule in schema.items():
        if keyword == "required":
            found += [f"{at}.{name} is missing" for name in rule if name not in value]
        elif keyword == "properties":
            for name in rule.keys() & value.keys():
                found += problems(rule[name], value[name], f"{at}.{name}")
        elif keyword == "additionalProperties":
            for name in value.keys() - schema.get("properties", {}).keys():
                if rule is False:
                    found.append(f"{at}.{name} is not described")
                elif isinstance(rule, dict):
                    found += problems(rule, value[name], f"{at}.{name}")
        elif keyword == "items":
            for index, item in enumerate(value):
                found += problems(rule, item, f"{at}[{index}]")
        elif keyword in ("minItems", "maxItems", "minLength", "maxLength"):
            if (len(value) < rule) if keyword.startswith("min") else (len(value) > rule):
                found.append(f"{at}: {keyword} is {rule}, got {len(value)}")
        elif keyword == "minimum":
            found += [f"{at}: minimum is {rule}, got {value}"] if value < rule else []
        elif keyword in ("enum", "const"):
            if value not in (rule if keyword == "enum" else [rule]):
                found.append(f"{at}: expected {rule}, got {json.dumps(value)[:80]}")
        elif keyword == "pattern":
            found += [] if re.search(rule, value) else [f"{at}: {value} does not match {rule}"]
        elif keyword not in ANNOTATIONS:
            found.append(f"{at}: the keyword {keyword} is not known to this client")
    return found


def address(operation_id, values):
    """The URL of an operation, with its required parameters and its key."""
    path, operation = operations[operation_id]
    query = {}
    for parameter in map(resolve, operation.get("parameters", [])):
        name = parameter["name"]
        value = str(values.get(name, parameter.get("example", "")))
        if parameter["in"] == "path":
            path = path.replace("{" + name + "}", urllib.parse.quote(value, safe="/"))
        elif parameter.get("required"):
            query[name] = value
    for scheme in operation.get("security", [])[:1]:
        query.update({name: {"api_key": api_key, "api_token": api_token}[name] for name in scheme})
    return base_url + path + ("?" + urllib.parse.urlencode(query) if query else "")


def get(url, accept):
    """Status, media type and body."""
    request = urllib.request.Request(url, headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers.get_content_type(), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get_content_type(), error.read()


def read(operation_id):
    """The JSON of an operation."""
    status, _, body = get(address(operation_id, {}), JSON)
    if status != 200:
        raise SystemExit(f"{operation_id}: {status} {body.decode()}")
    return json.loads(body)


def known_values():
    """Values of parameters that lead to records of this service."""
    project = read("listProjectFeeds")[0]["path"].split("/")[-2]
    others = [one["id"] for one in read("listProjectIds")["projects"]["project"]]
    organizations = read("listOrganizations")["organizations"]["organization"]
    download = urllib.parse.urlparse(read("linkProjects")["download"]["url"]).path.split("/")
    return {
        "projectId": project,
        "projectIds": f"{project},{others[0]}",
        "organizationId": organizations[0]["id"],
        "bridgeId": next((one["bridgeId"] for one in organizations if "bridgeId" in one), ""),
        "themeId": read("listThemes")["themes"]["theme"][0]["id"],
        "identifier": read("getActivityIndex")["files"][0]["activities"][0]["identifier"],
        "release": read("getManifest")["release"],
        "token": download[-2],
        "file": download[-1],
    }


def check(operation_id, accept, values):
    """Status, media type and problems of one request."""
    responses = operations[operation_id][1]["responses"]
    # A parameter of this name is also that of a demo picture, whose example leads to one.
    own = {name: value for name, value in values.items() if operation_id != "getDemoPicture" or name != "file"}
    status, media_type, body = get(address(operation_id, own), accept)
    if str(status) not in responses:
        return status, media_type, [f"the status {status} is not described"]
    content = resolve(responses[str(status)]).get("content", {})
    if content and media_type not in content:
        return status, media_type, [f"the media type {media_type} is not described"]
    if media_type == JSON and content:
        return status, media_type, problems(content[media_type].get("schema", {}), json.loads(body))
    if media_type in XML:
        ElementTree.fromstring(body)
    return status, media_type, []


def main():
    values = known_values()
    failed = False
    for operation_id, (_, operation) in operations.items():
        types = list(resolve(operation["responses"]["200"]).get("content", {}))
        formats = [one for one in types if one == JSON or one in XML] if JSON in types else ["*/*"]
        for accept in formats:
            status, media_type, found = check(operation_id, accept, values)
            print(operation_id, status, media_type, *(["-", "; ".join(found[:3])] if found else []))
            failed = failed or bool(found)
    return 1 if failed else 0


sys.exit(main())
