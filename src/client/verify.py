#!/usr/bin/env python3
"""Verifies what a publisher has published: python3 verify.py URL --key publisher.pem [--state seen.json]

Apart from `giving verify`: Python's standard library and the program openssl. Exit codes: 0 well, 1 wrong, 2 unreadable.
"""
import argparse, base64, contextlib, datetime, email.utils, hashlib, http.client, json, os, pathlib, re, subprocess
import sys, tempfile, types, urllib.parse, zlib
arguments = argparse.ArgumentParser(description="Verifies a published set.")
arguments.add_argument("url")
arguments.add_argument("--key", required=True, help="public key of the publisher (PEM)")
arguments.add_argument("--state", help="file that remembers what was seen")
arguments.add_argument("--max-age", type=float, default=36, help="hours; 36 when absent")
arguments.add_argument("--now", default=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
options = arguments.parse_args()
COMPARED = ("etag", "last-modified", "content-length", "content-type", "x-release")
MANIFEST, CHAIN, INDEX = "/feeds/manifest.json", "/feeds/releases.json", "/feeds/projects/index.json"
INSTANT, PATH, SHA256 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", r"/(?!/)[\w./-]*", r"[0-9a-f]{64}"
findings, Unreadable = [], type("Unreadable", (Exception,), {})

def tell(code, address, expected, got):
    findings.append(f"{code:8} {address}: expected {expected}, got {got}")

def read(address, limit, method="GET", encoding="identity", keep=False):
    """What an address answers; reading stops beyond `limit` bytes, decompressed."""
    target = urllib.parse.urlsplit(options.url.rstrip("/") + address)
    kind = {"https": http.client.HTTPSConnection}.get(target.scheme, http.client.HTTPConnection)
    digest, kept, size, wire = hashlib.sha256(), [], 0, 0
    try:
        with contextlib.closing(kind(target.netloc, timeout=30)) as connection:
            connection.request(method, target.path, headers={"Accept-Encoding": encoding})
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.headers.items()}
            inflate = zlib.decompressobj(31) if headers.get("content-encoding") == "gzip" else None
            while method == "GET" and size < limit and wire <= limit * 1.01 + 65536:
                wire += len(chunk := response.read(65536))
                if not chunk:
                    break
                chunk = inflate.decompress(chunk, limit - size) if inflate else chunk
                size += len(chunk)
                digest.update(chunk)
                kept += [chunk] if keep else []
    except zlib.error:
        digest.update(b"what cannot be decompressed")
    except (OSError, http.client.HTTPException) as error:
        raise Unreadable(f"{address} cannot be read: {error}")
    return types.SimpleNamespace(status=response.status, headers=headers, size=size, wire=wire, sha256=digest.hexdigest(),
                                 text=b"".join(kept).decode("utf-8", "replace") if size < limit else None)

def dense(value):
    """JSON without white space, as it is hashed and signed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

def strict(text):
    """JSON that is written as it would be written again: of members with one name each reader takes another."""
    try:
        value = json.loads(text or "", parse_constant=int, parse_float=int)
        return value if re.sub(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', r"\1", text) == dense(value) else None
    except (ValueError, RecursionError):
        return None

def fits(value, numbers=(), maybe=(), **patterns):
    """Whether it is an object with texts of these patterns, with these counts, and perhaps with these texts."""
    return (isinstance(value, dict) and all(type(value.get(name)) is int and value[name] >= 0 for name in numbers)
            and all(isinstance(value.get(name, ""), str) for name in maybe)
            and all(re.fullmatch(pattern, str(value.get(name)), re.ASCII | re.DOTALL) and isinstance(value[name], str)
                    for name, pattern in patterns.items()))

def is_record(record):
    return fits(record, ["run"], ["previous", "key", "signature"], release=".*", manifestSha256=".*", generated=INSTANT) and (
        "newKey" not in record or fits(record["newKey"], [], ["replaces", "signature"], publicKey=".*"))

def hours(instant):
    return datetime.datetime.fromisoformat(re.sub(r"(\.\d+)?Z$", "+00:00", instant)).timestamp() / 3600

def hash_of(record):
    return hashlib.sha256(dense(record).encode()).hexdigest()

def key_id(pem):
    return hashlib.sha256(base64.b64decode(re.sub(r"-----.*-----|\s", "", pem))).hexdigest()[:32]

def is_signed(message, signature, pem):
    """Whether the signature (base64) of the key (PEM, Ed25519) is that of the message."""
    if not re.fullmatch(r"[A-Za-z0-9+/]{85}[AQgw]==", signature or ""):
        return False
    with tempfile.TemporaryDirectory() as folder:
        for name, content in ("key", pem.encode()), ("message", message.encode()), ("signature", base64.b64decode(signature)):
            pathlib.Path(folder, name).write_bytes(content)
        command = "openssl pkeyutl -verify -pubin -rawin -inkey key -in message -sigfile signature"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0

def is_signed_by(facts, pem):
    return is_signed(dense({name: facts[name] for name in facts if name != "signature"}), facts.get("signature"), pem)

def check_chain(manifest_sha256, last):
    """Follows the chain of releases. Returns the hash of its newest record and when the set was last stated to be up to date."""
    chain, checked = ((answer.text if answer.status == 200 else None)
                      for answer in (read(CHAIN, 300_000_000, keep=True), read("/feeds/checked.json", 10_000, keep=True)))
    records = document.get("releases") if isinstance(document := strict(chain), dict) else None
    if not isinstance(records, list) or not records or not all(map(is_record, records)):
        return tell("unsigned", CHAIN, "a chain of releases", "none" if chain is None else "no chain") or (None, None)
    trusted, before, faults = {key_id(pem := pathlib.Path(options.key).read_text("ascii")): pem}, None, len(findings)
    for record in records:
        name, new = f"release {record['release']}", record.get("newKey", {})
        if record.get("previous") != (before and hash_of(before)) or (before and record["run"] <= before["run"]):
            tell("fork", CHAIN, "an unbroken chain of releases", name)
        older = trusted.get(new.get("replaces"))
        if older and is_signed("giving-iati signing key\n" + new["publicKey"], new.get("signature"), older):
            trusted[key_id(new["publicKey"])] = new["publicKey"]
        key = trusted.get(record.get("key"))
        if not is_signed_by(record, key) if key else record is records[-1]:
            tell("forged", CHAIN, "a signature of the publisher", name)
        before = record
    faults = len(findings) > faults
    if before["manifestSha256"] != manifest_sha256:
        is_older = any(record["manifestSha256"] == manifest_sha256 for record in records)
        tell("rollback" if is_older else "forged", CHAIN, f"the manifest of release {before['release']}", manifest_sha256)
    if last.get("recordSha256") and last["recordSha256"] not in map(hash_of, records):
        tell("rollback" if before["run"] < last["run"] else "fork", CHAIN, f"the record of run {last['run']}", "none")
    said = strict(checked)
    is_genuine = (fits(said, release=".*", manifestSha256=".*", key=".*", signature=".*", checkedAt=INSTANT)
                  and said["key"] in trusted and is_signed_by(said, trusted[said["key"]]))
    if last.get("checkedAt") if checked is None else not (is_genuine or faults):
        tell("rollback" if checked is None else "forged", CHAIN, "checked.json signed by the publisher", checked)
    return hash_of(before), said["checkedAt"] if is_genuine and said["manifestSha256"] == manifest_sha256 else None

def check_answer(address, file, release, answer):
    """Compares an answer with what the manifest says; true when comparing further makes sense."""
    headers, tag = answer.headers, f'"{file["sha256"]}"'
    if answer.status != 200:
        return tell("missing", address, "status 200", answer.status)
    if headers.get("x-release", release) != release:
        return tell("mixed", address, f"release {release}", headers["x-release"])
    if (answer.size, answer.sha256) != (file["bytes"], file["sha256"]):
        tell("tampered", address, f"{file['bytes']} bytes, sha256 {file['sha256']}", f"{answer.size}, {answer.sha256}")
    if any(re.fullmatch(r"x-\w+-meta-sha256", name) for name in headers):
        return True  # An object store makes tags and dates of its own.
    modified = email.utils.parsedate(headers.get("last-modified", ""))
    if headers.get("etag", tag) != tag or not modified or modified[:6] != tuple(map(int, re.findall(r"\d+", file["lastModified"])))[:6]:
        tell("headers", address, f"{tag} of {file['lastModified']}", f"{headers.get('etag')} of {headers.get('last-modified')}")
    return True

def check_file(file, release):
    path, immutable, limit = file["path"], file["immutablePath"], file["bytes"] + 1
    if immutable != f"/feeds/releases/{release}{path}":
        tell("mixed", path, f"an address of release {release}", immutable)
    if not check_answer(immutable, file, release, read(immutable, limit)):
        return
    twin, live, head = read(immutable, limit, encoding="gzip"), read(path, limit), read(path, limit, "HEAD")
    is_other_size = twin.headers.get("content-encoding") == "gzip" and file["gzipBytes"] not in (0, twin.wire)
    if twin.status != 200 or twin.sha256 != file["sha256"] or is_other_size:
        tell("missing" if twin.status != 200 else "tampered", immutable + " (gzip)", f"{file['gzipBytes']} bytes", twin.wire)
    check_answer(path, file, release, live)
    of_get, of_head = ([one.headers.get(name) for name in COMPARED] for one in (live, head))
    if of_get != of_head:
        tell("headers", path, f"{of_get} of GET", f"{of_head} of HEAD")

def check_feeds(manifest):
    index = next((file for file in manifest["files"] if file["path"] == INDEX), None)
    listed = index and read(index["immutablePath"], index["bytes"] + 1, keep=True)
    for feed in json.loads(listed.text) if listed and listed.sha256 == index["sha256"] else []:
        if not fits(feed, ["bytes"], path=r"/feeds/projects/\d+/reports\.atom", sha256=SHA256, lastModified=INSTANT):
            return tell("malformed", INDEX, "a list of feeds of projects", dense(feed))
        check_answer(feed["path"], feed, manifest["release"], read(feed["path"], feed["bytes"] + 1))

def verify(last):
    findings.clear()
    answer = read(MANIFEST, 8_000_000, keep=True)
    manifest = strict(answer.text if answer.status == 200 else "")
    fine = fits(manifest, ["run"], release=".+", generated=INSTANT) and isinstance(manifest.get("files"), list) and all(
        fits(file, ["records", "bytes", "gzipBytes"], path=PATH, immutablePath=PATH, sha256=SHA256, lastModified=INSTANT)
        for file in manifest["files"])
    if not fine:
        raise Unreadable(f"{MANIFEST} is no manifest (status {answer.status})")
    record, checked = check_chain(answer.sha256, last)
    age = hours(options.now) - max(hours(instant) for instant in (manifest["generated"], checked) if instant)
    if age > options.max_age:
        tell("frozen", MANIFEST, f"an age of at most {options.max_age} hours", f"{age:.1f} hours")
    if manifest["run"] < last.get("run", 0):
        tell("rollback", MANIFEST, f"run {last['run']} or later", f"run {manifest['run']}")
    if manifest["release"] == last.get("release") and answer.sha256 != last["manifestSha256"]:
        tell("tampered", MANIFEST, f"sha256 {last['manifestSha256']} as before", answer.sha256)
    for file in manifest["files"]:
        check_file(file, manifest["release"])
    check_feeds(manifest)
    return {"release": manifest["release"], "run": manifest["run"], "manifestSha256": answer.sha256,
            "recordSha256": record, "checkedAt": checked or last.get("checkedAt")}

state = pathlib.Path(options.state or os.devnull)
last = json.loads(state.read_text() or "{}") if state.exists() else {}
try:
    for attempt in range(3):  # A set that changes while it is read is read again.
        seen = verify(last)
        if not findings or read(MANIFEST, 8_000_000).sha256 == seen["manifestSha256"]:
            break
except Unreadable as error:
    sys.exit(print(error, file=sys.stderr) or 2)
print("\n".join(findings) or f"well: release {seen['release']}, run {seen['run']}")
if options.state and not findings:
    state.write_text(dense({name: value for name, value in seen.items() if value}))
sys.exit(1 if findings else 0)
