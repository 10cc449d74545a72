#!/usr/bin/env python3
"""Verifies what a publisher has published: python3 verify.py URL --key publisher.pem [--state seen.json] [--sample 100]
[--max-age 36]. --state remembers what was seen, --sample says how many single activities are compared, --max-age how many hours old the set may be. Apart from `giving verify`:
Python's standard library and the program openssl. Exit codes: 0 well, 1 wrong, 2 unreadable."""
import argparse, base64, contextlib, datetime, email.utils, hashlib, http.client, json, os, pathlib, random, re
import subprocess, sys, tempfile, types, urllib.parse, xml.etree.ElementTree, zlib
arguments, now = argparse.ArgumentParser(description=__doc__), datetime.datetime.now(datetime.timezone.utc)
arguments.add_argument("url", type=lambda url: re.sub(r"(/feeds/manifest\.json)?/*$", "", url))
arguments.add_argument("--key", required=True)
for name, usual in ("--state", os.devnull), ("--sample", 100), ("--max-age", 36.0), ("--now", now.strftime("%Y-%m-%dT%H:%M:%SZ")):
    arguments.add_argument(name, type=type(usual), default=usual)
options = arguments.parse_args()
MANIFEST, CHAIN, FEEDS, INDEX = "/feeds/manifest.json", "/feeds/releases.json", "/feeds/projects/index.json", "/iati/index.json"
INSTANT, PATH, SHA256 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", r"/(?!/)[\w./-]*", r"[0-9a-f]{64}"
COMPARED = "etag", "last-modified", "content-length", "content-type", "x-release"  # What HEAD answers as GET does.
findings, Unreadable = [], type("Unreadable", (Exception,), {})

def tell(code, address, expected, got): findings.append((code, address, expected, got))
def dense(value): return json.dumps(value, ensure_ascii=False, separators=(",", ":"))  # As it is hashed and signed.
def hash_of(record): return hashlib.sha256(dense(record).encode()).hexdigest()
def key_id(pem): return hashlib.sha256(base64.b64decode(re.sub(r"-----.*-----|\s", "", pem))).hexdigest()[:32]
def hours(instant): return datetime.datetime.fromisoformat(re.sub(r"(\.\d+)?Z$", "+00:00", instant)).timestamp() / 3600
def is_of_bucket(headers): return any(re.fullmatch(r"x-\w+-meta-sha256", name) for name in headers)

def read(address, limit, method="GET", encoding="identity", keep=True):  # What an address answers; reading stops beyond `limit` bytes, decompressed.
    target, digest, kept, size, wire = urllib.parse.urlsplit(options.url + address), hashlib.sha256(), [], 0, 0
    kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
    try:
        with contextlib.closing(kind(target.netloc, timeout=30)) as connection:
            connection.request(method, target.path, headers={"Accept-Encoding": encoding})
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.headers.items()}
            inflate = zlib.decompressobj(31) if headers.get("content-encoding") == "gzip" else None
            while method == "GET" and size < limit and wire <= limit * 1.01 + 65536 and (chunk := response.read(65536)):
                wire += len(chunk)
                chunk = inflate.decompress(chunk, limit - size) if inflate else chunk
                size += len(chunk)
                digest.update(chunk)
                kept += [chunk] if keep else []
    except zlib.error:
        digest.update(b"what cannot be decompressed")
    except (OSError, http.client.HTTPException) as error:
        raise Unreadable(f"{address} cannot be read: {error}")
    return types.SimpleNamespace(status=response.status, headers=headers, size=size, wire=wire, sha256=digest.hexdigest(), text=(
        b"".join(kept).decode("utf-8", "replace") if size < limit and response.status == 200 else None))

def strict(text):  # JSON that is written as it would be written again: of members with one name each reader takes another.
    try:
        value = json.loads(text or "", parse_constant=int, parse_float=int)
        return value if re.sub(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', r"\1", text) == dense(value) else None
    except (ValueError, RecursionError):
        return None
def fits(value, numbers=(), maybe=(), **patterns):  # Whether it is an object with texts of these patterns, with these counts, and perhaps with these texts.
    return (isinstance(value, dict) and all(type(value.get(name)) is int and value[name] >= 0 for name in numbers)
            and all(isinstance(value.get(name, ""), str) for name in maybe)
            and all(isinstance(value.get(name), str) and re.fullmatch(pattern, value[name], re.ASCII | re.DOTALL)
                    for name, pattern in patterns.items()))
def is_signed(message, signature, pem):  # Whether the signature (base64) of the key (PEM, Ed25519) is that of the message.
    given = base64.b64decode(signature) if re.fullmatch(r"[A-Za-z0-9+/]{85}[AQgw]==", signature or "") else b""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in ("key", pem.encode()), ("message", message.encode()), ("signature", given):
            pathlib.Path(folder, name).write_bytes(content)
        command = "openssl pkeyutl -verify -pubin -rawin -inkey key -in message -sigfile signature"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0
def is_signed_by(facts, pem): return is_signed(dense({name: facts[name] for name in facts if name != "signature"}), facts.get("signature"), pem)

def records_of(answer, member, numbers, **patterns):  # The records of a chain's file; none when it is not one.
    records = document.get(member) if isinstance(document := strict(answer.text), dict) else None
    return records if isinstance(records, list) and all(
        fits(one, numbers, ["previous", "key", "signature"], release=".*", **patterns)
        and fits(one.get("newKey", {"publicKey": ""}), [], ["replaces", "signature"], publicKey=".*") for one in records) else []
def follow(records, pem):  # Follows a chain by a key that signed in it. Returns what is wrong, and the keys that it vouches for.
    trusted, before, faults = {key_id(pem): pem}, None, []
    for record in records:
        name, new = f"release {record['release']}", record.get("newKey", {})
        if record.get("previous") != (before and hash_of(before)) or before and record.get("run", 0) <= before.get("run", -1):
            faults.append(("fork", CHAIN, "an unbroken chain of releases", name))
        older = trusted.get(new.get("replaces"))
        if older and is_signed("giving-iati signing key\n" + new["publicKey"], new.get("signature"), older):
            trusted[key_id(new["publicKey"])] = new["publicKey"]
        key, before = trusted.get(record.get("key")), record
        if not is_signed_by(record, key) if key else record is records[-1]:
            faults.append(("forged", CHAIN, "a signature of the publisher", name))
    return faults, trusted

def check_chain(manifest_sha256, last):  # Follows the chain of releases. Returns the hash of its newest record and when the set was last stated to be up to date.
    chain, said = read(CHAIN, 300_000_000), read("/feeds/checked.json", 10_000)
    records, checked = records_of(chain, "releases", ["run"], manifestSha256=".*", generated=INSTANT), strict(said.text)
    if not records:
        return tell("unsigned", CHAIN, "a chain of releases", "none") or (None, None)
    faults, trusted = follow(records, pathlib.Path(options.key).read_text("ascii"))
    is_genuine = (fits(checked, release=".*", manifestSha256=".*", key=".*", signature=".*", checkedAt=INSTANT)
                  and checked["key"] in trusted and is_signed_by(checked, trusted[checked["key"]]))
    if last.get("checkedAt") if said.text is None else not (is_genuine or faults):
        faults += [("rollback" if said.text is None else "forged", CHAIN, "checked.json of the publisher", said.text)]
    newest, hashes, manifests = records[-1], *zip(*((hash_of(record), record["manifestSha256"]) for record in records))
    if newest["manifestSha256"] != manifest_sha256:
        faults += [("rollback" if manifest_sha256 in manifests else "forged", CHAIN, newest["manifestSha256"], manifest_sha256)]
    if last.get("recordSha256") and last["recordSha256"] not in hashes:
        faults += [("rollback" if newest["run"] < last["run"] else "fork", CHAIN, f"the record of run {last['run']} as it was seen", "none")]
    findings.extend(faults)
    return hashes[-1], checked["checkedAt"] if is_genuine and checked["manifestSha256"] == manifest_sha256 else None

def check_answer(address, file, release, answer):  # Compares an answer with what the manifest says; true when comparing further makes sense.
    headers, tag = answer.headers, f'"{file["sha256"]}"'
    if answer.status != 200 or headers.get("x-release", release) != release:
        return tell("missing" if answer.status != 200 else "mixed", address, f"release {release}", answer.status)
    if (answer.size, answer.sha256) != (file["bytes"], file["sha256"]):
        tell("tampered", address, f"{file['bytes']} bytes, sha256 {file['sha256']}", f"{answer.size}, {answer.sha256}")
    modified = email.utils.parsedate(headers.get("last-modified", "")) or ()
    is_dated = modified[:6] == tuple(map(int, re.findall(r"\d+", file["lastModified"])))[:6]
    if not is_of_bucket(headers) and (headers.get("etag", tag) != tag or not is_dated):
        tell("headers", address, f"{tag} of {file['lastModified']}", f"{headers.get('etag')} of {headers.get('last-modified')}")
    return True

def check_file(file, release):
    path, immutable, limit = file["path"], file["immutablePath"], file["bytes"] + 1
    if immutable != f"/feeds/releases/{release}{path}":
        tell("mixed", path, f"an address of release {release}", immutable)
    if not check_answer(immutable, file, release, answer := read(immutable, limit, keep=path in (FEEDS, INDEX))):
        return
    twin, live, head = (read(*one, keep=False) for one in ((immutable, limit, "GET", "gzip"), (path, limit), (path, limit, "HEAD")))
    is_other_size = twin.headers.get("content-encoding") == "gzip" and file["gzipBytes"] not in (0, twin.wire)
    if twin.status != 200 or twin.sha256 != file["sha256"] or is_other_size:
        tell("missing" if twin.status != 200 else "tampered", immutable + " (gzip)", f"{file['gzipBytes']} bytes", twin.wire)
    check_answer(path, file, release, live)
    of_get, of_head = ([one.headers.get(name) for name in COMPARED] for one in (live, head))
    if of_get != of_head:
        tell("headers", path, f"{of_get} of GET", f"{of_head} of HEAD")
    if answer.sha256 == file["sha256"] and path == FEEDS:
        for feed in json.loads(answer.text):
            if not fits(feed, ["bytes"], path=r"/feeds/projects/\d+/reports\.atom", sha256=SHA256, lastModified=INSTANT):
                return tell("malformed", FEEDS, "a list of feeds of projects", dense(feed))
            check_answer(feed["path"], feed, release, read(feed["path"], feed["bytes"] + 1))
    elif answer.sha256 == file["sha256"] and path == INDEX and not is_of_bucket(answer.headers):
        lines = [line.rstrip(",") for line in answer.text.split("\n") if line.startswith('{"identifier":')]
        for line in random.SystemRandom().sample(lines, min(options.sample, len(lines))):
            check_activity(json.loads(line), release)

def as_json(one):  # An element in XML as JSON without loss.
    made = {"@" + name.replace("{http://www.w3.org/XML/1998/namespace}", "xml:"): value for name, value in one.items()}
    made |= {"#text": one.text} if one.text and (one.text.strip(" \t\r\n") or not len(one)) else {}
    for child in one:
        made.setdefault(child.tag, []).append(as_json(child))
    return made
def check_activity(entry, release):  # Compares the documents of one activity with its entry in the index: nothing may differ.
    address, changed = f"/iati/activities/{urllib.parse.quote(entry['identifier'], safe='')}", entry["changed"]
    head = (f'<?xml version="1.0" encoding="UTF-8"?>\n<iati-activities version="2.03" generated-datetime="{changed}">\n'
            f'<iati-activity last-updated-datetime="{changed}" ')
    tail, text = "\n</iati-activities>\n", (answer := read(address + ".xml", entry["length"] + 1_000)).text or ""
    digest = hashlib.sha256(("<iati-activity " + text[len(head):-len(tail)]).encode()).digest()
    if (text[:len(head)], text[-len(tail):], base64.urlsafe_b64encode(digest)[:-1].decode()) == (head, tail, entry["hash"]):
        said = dense({"iati-activities": as_json(xml.etree.ElementTree.fromstring(text))}) + "\n"
        if (answer := read(address + ".json", len(said.encode()) + 1)).text == said:
            return
    code = "mixed" if answer.headers.get("x-release", release) != release else "tampered"
    tell("missing" if answer.status != 200 else code, address, entry["hash"], f"{answer.status}, sha256 {answer.sha256}")

def verify(last):
    findings.clear()
    manifest = strict((answer := read(MANIFEST, 8_000_000)).text)
    files = manifest.get("files") if fits(manifest, ["run"], release=".+", generated=INSTANT) else None
    if not isinstance(files, list) or not all(fits(file, ["records", "bytes", "gzipBytes"], path=PATH, immutablePath=PATH,
                                                   sha256=SHA256, lastModified=INSTANT) for file in files):
        raise Unreadable(f"{MANIFEST} is no manifest (status {answer.status})")
    record, checked = check_chain(answer.sha256, last)
    age = hours(options.now) - max(hours(instant) for instant in (manifest["generated"], checked) if instant)
    if age > options.max_age:
        tell("frozen", MANIFEST, f"an age of at most {options.max_age} hours", f"{age:.1f} hours")
    for file in files:
        check_file(file, manifest["release"])
    return {"release": manifest["release"], "run": manifest["run"], "manifestSha256": answer.sha256,
            "recordSha256": record, "checkedAt": checked or last.get("checkedAt")}

state = pathlib.Path(options.state)
last = json.loads(state.read_text() or "{}") if state.exists() else {}
try:
    for attempt in range(3):  # A set that changes while it is read is read again.
        seen = verify(last)
        if not findings or read(MANIFEST, 8_000_000).sha256 == seen["manifestSha256"]:
            break
except (Unreadable, ValueError) as error:
    sys.exit(print(error, file=sys.stderr) or 2)
print("\n".join(f"{code:8} {where}: expected {expected}, got {got}" for code, where, expected, got in findings) or
      f"well: release {seen['release']}, run {seen['run']}")
print("not signed, so not compared: the pages for people, /feeds/status.json, /api/")
sys.exit(1 if findings else state.write_text(dense({name: value for name, value in seen.items() if value})) and 0)
