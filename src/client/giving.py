"""Calls the API of a giving platform. One file, which needs nothing but Python 3.9 or later.

    client = Client("https://giving.example", api_key="...", user={"email": "...", "password": "..."})
    for project in client.records(client.list_projects, limit=50):
        print(project["id"], project["title"])

Answers are what the API sends as JSON; numbers with a fraction are decimal.Decimal, so that money stays exact.
"""

import decimal
import http.client
import itertools
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

# A request does not wait longer than this before it is sent again: the caller decides.
LONGEST_WAIT_SECONDS = 60
# What the service answers while it restarts or is busy, or a proxy in front of it.
PASSING = (502, 503, 504)

Answer = Dict[str, Any]
Body = Mapping[str, Any]


class AnswerError(Exception):
    """An answer of the service that is not a success. Its message has neither key nor token.

    status: of HTTP. entries: of the error_response, the most important one first; empty when something else than the
    API answered. requires_action: what the page of a donor needs to confirm a payment. request_id: the request in the
    log of the service. retry_after: after how many seconds another try may succeed.
    """

    def __init__(self, request: str, status: int, headers: Mapping[str, str], answer: Any) -> None:
        response = answer.get("error_response", {}) if isinstance(answer, dict) else {}
        self.status = status
        self.entries: List[Answer] = response.get("errors", {}).get("error", [])
        self.requires_action: Optional[Answer] = response.get("requires_action")
        self.request_id = headers.get("x-request-id")
        retry_after = headers.get("retry-after", "")
        self.retry_after = int(retry_after) if retry_after.isdigit() else None
        messages = "; ".join(str(entry.get("error_message")) for entry in self.entries)
        super().__init__(f"{request}: {status} {messages}".rstrip())


class Client:
    """A client of the service at `url`.

    api_key is sent to operations below /api/public/ and /api/secure/, a token to those below /api/secure/: api_token,
    or one that the client gets for `user` (email and password of the key's owner), and another one when it has expired.
    A read, or a donation with a transactionId, is sent again after 502, 503, 504 or a lost connection, `retries` times
    at most. The pause is what Retry-After says, else 1 s and then twice the last: 31 s in all, longer than a restart.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: Optional[str] = None,
        api_token: Optional[str] = None,
        user: Optional[Body] = None,
        retries: int = 5,
        timeout: float = 60,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.api_token = api_token
        self.user = user
        self.retries = retries
        self.timeout = timeout
        self.wait = wait

    def records(self, operation: Callable[..., Answer], **arguments: Any) -> Iterator[Answer]:
        """Each record of a list of projects or organisations, page after page; `limit` is the size of a page."""
        while True:
            answer = operation(**arguments)
            projects, organizations = answer.get("projects"), answer.get("organizations")
            page = projects if projects is not None else organizations or {}
            yield from page.get("project", page.get("organization", []))
            following = {name: page[name] for name in ("nextProjectId", "nextOrgId") if name in page}
            if not following:
                return
            arguments.update(following)

    def send(self, method: str, address: str, query: Optional[Mapping[str, Any]] = None, body: Optional[Body] = None) -> Answer:
        """Sends a request and returns the JSON of its answer. Raises AnswerError, or OSError without an answer."""
        if not address.startswith("/api/secure/"):
            return self._send(method, address, query, body)
        used = self.api_token
        if used is None:
            self._sign_in()
        try:
            return self._send(method, address, query, body)
        except AnswerError as error:
            # 401 comes before the body is read, so nothing was done.
            if self.user is None or used is None or error.status != 401:
                raise
            self._sign_in()
            return self._send(method, address, query, body)

    def _sign_in(self) -> None:
        if self.user is None or self.api_key is None:
            return
        auth = {"auth_request": {"user": self.user, "api_key": self.api_key}}
        self.api_token = self._send("POST", "/api/userservice/tokens", None, auth)["auth_response"]["access_token"]

    def _send(self, method: str, address: str, query: Optional[Mapping[str, Any]], body: Optional[Body]) -> Answer:
        named = {name: value for name, value in (query or {}).items() if value is not None}
        target = self.url + address + ("?" + urllib.parse.urlencode(named) if named else "")
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.api_key is not None and address.startswith(("/api/public/", "/api/secure/")):
            headers["X-Api-Key"] = self.api_key
        if self.api_token is not None and address.startswith("/api/secure/"):
            headers["Authorization"] = "Bearer " + self.api_token
        data = None if body is None else json.dumps(body, default=_text_of_decimal).encode()
        request = urllib.request.Request(target, data=data, headers=headers, method=method)
        # What else writes is never sent again: the first request may have been done.
        most = self.retries if method == "GET" or _is_idempotent(body) else 0
        for sent in itertools.count():
            seconds = 2**sent
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as response:
                    return _parse(response.read())
            except urllib.error.HTTPError as refused:
                with refused:
                    answered = AnswerError(f"{method} {address}", refused.code, _lower(refused.headers), _parse_any(refused.read()))
                if answered.retry_after is not None:
                    seconds = answered.retry_after
                if sent >= most or answered.status not in PASSING or seconds > LONGEST_WAIT_SECONDS:
                    raise answered from None
            except (OSError, http.client.HTTPException):
                if sent >= most or seconds > LONGEST_WAIT_SECONDS:
                    raise
            self.wait(seconds)
        raise AssertionError("the last request was answered or has failed")

    # The operations of openapi.json, written by `npm run api:describe`.

    def create_token(self, body: Body) -> Answer:
        """Get an access token. Exchanges credentials for a token, which secure operations need beside the key. Earlier tokens stay valid until they expire. For example, a server asks for one in the morning and keeps it for its donations of the day."""
        return self.send("POST", "/api/userservice/tokens", None, body)

    def revoke_token(self, body: Body) -> Answer:
        """Sign out. Ends a token at once. A token that is not valid any more is not an error. For example, a program signs out when it ends."""
        return self.send("POST", "/api/userservice/tokens/revoke", None, body)

    def create_account(self, body: Body) -> Answer:
        """Make an account. The password has 12 characters or more and is not easy to guess. The account may read; secure operations need a grant of the operator. Where the service sends mail, the account is made when the e-mail is verified. REGISTRATION may ask for an invitation. For example, a developer makes an account, then asks for a key to read with."""
        return self.send("POST", "/api/userservice/accounts", None, body)

    def verify_account(self, body: Body) -> Answer:
        """Verify the e-mail of a new account. Makes the account that was asked for, with the code that was mailed and the password of that request. Only where the service sends mail. For example, the developer puts in the code of the message."""
        return self.send("POST", "/api/userservice/accounts/verify", None, body)

    def change_password(self, body: Body) -> Answer:
        """Change the password of an account. Ends all tokens of the account and, with revoke_keys, its keys. For example, after a laptop was lost: revoke_keys true."""
        return self.send("POST", "/api/userservice/passwords", None, body)

    def request_password_reset(self, body: Body) -> Answer:
        """Have a code for a new password mailed. The answer is the same for every e-mail; only one that has an account gets a message, usually within a minute. Where the service sends no mail, the operator gives a code. For example, a developer who has forgotten the password gives the e-mail of the account."""
        return self.send("POST", "/api/userservice/passwords/forgotten", None, body)

    def reset_password(self, body: Body) -> Answer:
        """Set a new password with a code. Ends all tokens of the account and, with revoke_keys, its keys. A code is valid once. For example, the code of the message and the new password are sent together."""
        return self.send("POST", "/api/userservice/passwords/reset", None, body)

    def create_key(self, body: Body) -> Answer:
        """Get an API key. Issues a key, which is shown only in this answer. An account has at most 20 keys. A key can be for reads or donations only, end at an instant, and be bound to the web origins whose pages use it. For example, a page in a browser has a key for reads that is bound to its origin."""
        return self.send("POST", "/api/userservice/keys", None, body)

    def list_keys(self, body: Body) -> Answer:
        """List the keys of an account. The keys that are not revoked: what each is for, and when it was used last, to five minutes. For example, a key that was not used for a year can be revoked."""
        return self.send("POST", "/api/userservice/keys/list", None, body)

    def revoke_key(self, body: Body) -> Answer:
        """Revoke an API key. Ends a key of the account and all its tokens, everywhere within 5 seconds. The api_key is the key or its id in the list. For example, 12 ends the key with that id."""
        return self.send("POST", "/api/userservice/keys/revoke", None, body)

    def rehearse_donation(self, body: Body, *, is_test: Any = None) -> Answer:
        """Donate with a card: tests only. Checks everything and takes nothing: is_test=true and a published test number are needed. For example, a client written for card numbers is tested with it."""
        return self.send("POST", "/api/secure/givingservice/donations", {"is_test": is_test}, body)

    def donate(self, body: Body, *, is_test: Any = None) -> Answer:
        """Donate through the client of a gateway. Charges what the client of the gateway gave for the card, once for each transactionId. For example, 25 dollars for project 2045 answer with the number of the receipt, and with the same number when the request is sent again."""
        return self.send("POST", "/api/secure/givingservice/donationsclient", {"is_test": is_test}, body)

    def create_client_token(self) -> Answer:
        """A token for the client of a gateway. What the page of the donor needs to ask for the card. For example, it begins the drop-in of the gateway with it."""
        return self.send("GET", "/api/secure/givingservice/clienttoken", None)

    def list_projects(self, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """All projects. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, a page of a hundred is limit=100; modifiedSince asks for what changed since."""
        return self.send("GET", "/api/public/projectservice/all/projects", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_project_summaries(self, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """All projects, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, a page of a hundred is limit=100; modifiedSince asks for what changed since."""
        return self.send("GET", "/api/public/projectservice/all/projects/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_projects(self, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """All projects that accept donations. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, a page of a hundred is limit=100; modifiedSince asks for what changed since."""
        return self.send("GET", "/api/public/projectservice/all/projects/active", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_project_summaries(self, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """All projects that accept donations, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, a page of a hundred is limit=100; modifiedSince asks for what changed since."""
        return self.send("GET", "/api/public/projectservice/all/projects/active/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_projects_of_country(self, iso3166CountryCode: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a country. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those in Sierra Leone are at countries/SL; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/countries/{_path(iso3166CountryCode)}/projects", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_project_summaries_of_country(self, iso3166CountryCode: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a country, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those in Sierra Leone are at countries/SL; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/countries/{_path(iso3166CountryCode)}/projects/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_projects_of_country(self, iso3166CountryCode: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a country that accept donations. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those in Sierra Leone are at countries/SL; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/countries/{_path(iso3166CountryCode)}/projects/active", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_project_summaries_of_country(self, iso3166CountryCode: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a country that accept donations, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those in Sierra Leone are at countries/SL; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/countries/{_path(iso3166CountryCode)}/projects/active/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_projects_of_theme(self, themeId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a theme. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those about water are at themes/water; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/themes/{_path(themeId)}/projects", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_project_summaries_of_theme(self, themeId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a theme, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those about water are at themes/water; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/themes/{_path(themeId)}/projects/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_projects_of_theme(self, themeId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a theme that accept donations. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those about water are at themes/water; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/themes/{_path(themeId)}/projects/active", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_project_summaries_of_theme(self, themeId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of a theme that accept donations, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those about water are at themes/water; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/themes/{_path(themeId)}/projects/active/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_projects_of_organization(self, organizationId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of an organisation. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those of organisation 318 are at organizations/318; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/organizations/{_path(organizationId)}/projects", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_project_summaries_of_organization(self, organizationId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of an organisation, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those of organisation 318 are at organizations/318; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/organizations/{_path(organizationId)}/projects/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_projects_of_organization(self, organizationId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of an organisation that accept donations. Whole records in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those of organisation 318 are at organizations/318; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/organizations/{_path(organizationId)}/projects/active", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_active_project_summaries_of_organization(self, organizationId: Any, *, nextProjectId: Any = None, limit: Any = None, modifiedSince: Any = None) -> Answer:
        """Projects of an organisation that accept donations, in short. Records without long texts in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, those of organisation 318 are at organizations/318; modifiedSince asks for what changed since."""
        return self.send("GET", f"/api/public/projectservice/organizations/{_path(organizationId)}/projects/active/summary", {"nextProjectId": nextProjectId, "limit": limit, "modifiedSince": modifiedSince})

    def list_project_ids(self, *, modifiedSince: Any = None) -> Answer:
        """Identifiers of all projects. One list without pages. For example, a client that mirrors compares it with its own to find what is gone."""
        return self.send("GET", "/api/public/projectservice/all/projects/ids", {"modifiedSince": modifiedSince})

    def list_active_project_ids(self, *, modifiedSince: Any = None) -> Answer:
        """Identifiers of all projects that accept donations. One list without pages. For example, a client that mirrors compares it with its own to find what is gone."""
        return self.send("GET", "/api/public/projectservice/all/projects/active/ids", {"modifiedSince": modifiedSince})

    def list_featured_projects(self) -> Answer:
        """Featured projects. Whole records of ten projects at most, which change every hour. For example, a home page shows them."""
        return self.send("GET", "/api/public/projectservice/featured/projects", None)

    def get_projects(self, *, projectIds: Any = None) -> Answer:
        """Projects by identifiers. Whole records of ten projects at most, in one request. For example, projectIds=2061,2045 asks for two; one that does not exist is left out."""
        return self.send("GET", "/api/public/projectservice/projects/collection/ids", {"projectIds": projectIds})

    def get_project(self, projectId: Any) -> Answer:
        """One project. Its whole record, as in lists. For example, projects/2045 is that of project 2045; 410 once the project is inactive."""
        return self.send("GET", f"/api/public/projectservice/projects/{_path(projectId)}", None)

    def list_featured_project_summaries(self) -> Answer:
        """Featured projects, in short. Records without long texts of ten projects at most, which change every hour. For example, a home page shows them."""
        return self.send("GET", "/api/public/projectservice/featured/projects/summary", None)

    def get_project_summaries(self, *, projectIds: Any = None) -> Answer:
        """Projects by identifiers, in short. Records without long texts of ten projects at most, in one request. For example, projectIds=2061,2045 asks for two; one that does not exist is left out."""
        return self.send("GET", "/api/public/projectservice/projects/collection/summary/ids", {"projectIds": projectIds})

    def get_project_summary(self, projectId: Any) -> Answer:
        """One project, in short. Its record without long texts, as in lists. For example, projects/2045/summary is that of project 2045; 410 once the project is inactive."""
        return self.send("GET", f"/api/public/projectservice/projects/{_path(projectId)}/summary", None)

    def get_project_images(self, projectId: Any) -> Answer:
        """Pictures of a project. Each picture with its addresses in six sizes. For example, a list of projects shows the size small, a page the size large."""
        return self.send("GET", f"/api/public/projectservice/projects/{_path(projectId)}/imagegallery", None)

    def search_projects(self, *, q: Any = None, start: Any = None, filter: Any = None, limit: Any = None) -> Answer:
        """Search active projects. The best hits first, a page at a time by start. For example, q=clean water&filter=country:KE finds projects in Kenya with both words."""
        return self.send("GET", "/api/public/services/search/projects", {"q": q, "start": start, "filter": filter, "limit": limit})

    def search_project_summaries(self, *, q: Any = None, start: Any = None, filter: Any = None, limit: Any = None) -> Answer:
        """Search active projects, in short. The best hits first, a page at a time by start. For example, q=clean water&filter=country:KE finds projects in Kenya with both words."""
        return self.send("GET", "/api/public/services/search/projects/summary", {"q": q, "start": start, "filter": filter, "limit": limit})

    def list_organizations(self, *, nextOrgId: Any = None, limit: Any = None, modifiedSince: Any = None, theme: Any = None, country: Any = None) -> Answer:
        """All organisations. A page at a time, in the order of their identifiers: while hasNext is true, ask again with nextOrgId. For example, theme=water&country=SL asks for those that work on water in Sierra Leone."""
        return self.send("GET", "/api/public/orgservice/all/organizations", {"nextOrgId": nextOrgId, "limit": limit, "modifiedSince": modifiedSince, "theme": theme, "country": country})

    def list_active_organizations(self, *, nextOrgId: Any = None, limit: Any = None, modifiedSince: Any = None, theme: Any = None, country: Any = None) -> Answer:
        """Organisations with projects that accept donations. A page at a time, in the order of their identifiers: while hasNext is true, ask again with nextOrgId. For example, theme=water&country=SL asks for those that work on water in Sierra Leone."""
        return self.send("GET", "/api/public/orgservice/all/organizations/active", {"nextOrgId": nextOrgId, "limit": limit, "modifiedSince": modifiedSince, "theme": theme, "country": country})

    def list_vetted_organizations(self, *, nextOrgId: Any = None, limit: Any = None, modifiedSince: Any = None, theme: Any = None, country: Any = None) -> Answer:
        """Organisations that the operator vouches for. A page at a time, in the order of their identifiers: while hasNext is true, ask again with nextOrgId. For example, theme=water&country=SL asks for those that work on water in Sierra Leone."""
        return self.send("GET", "/api/public/orgservice/all/organizations/vetted", {"nextOrgId": nextOrgId, "limit": limit, "modifiedSince": modifiedSince, "theme": theme, "country": country})

    def get_organization(self, organizationId: Any) -> Answer:
        """One organisation. Its record, as in lists. For example, organization/318 is that of organisation 318."""
        return self.send("GET", f"/api/public/orgservice/organization/{_path(organizationId)}", None)

    def get_organization_by_bridge_id(self, bridgeId: Any) -> Answer:
        """One organisation by its identifier in an external register. The same record, found by the identifier that a register gave it. For example, a client that knows only that one reads our identifier here."""
        return self.send("GET", f"/api/public/orgservice/organization/bridge/{_path(bridgeId)}", None)

    def list_themes(self) -> Answer:
        """Themes. Identifier and name of each. For example, the theme water has its projects at themes/water/projects."""
        return self.send("GET", "/api/public/projectservice/themes", None)

    def list_themes_with_projects(self) -> Answer:
        """Themes with their projects. Each theme with the identifiers of its active projects. For example, a menu shows how many each has."""
        return self.send("GET", "/api/public/projectservice/themes/projects/ids", None)

    def list_regions(self) -> Answer:
        """Regions. The names of the regions of the world that have projects. For example, Africa can be counted by country."""
        return self.send("GET", "/api/public/projectservice/regions", None)

    def count_projects(self) -> Answer:
        """Number of projects by region and country. Each country with its number of projects. For example, a map is coloured by it."""
        return self.send("GET", "/api/public/projectservice/regions/countries/projects/count", None)

    def count_active_projects(self) -> Answer:
        """Number of projects that accept donations by region and country. Each country with its number of projects. For example, a map is coloured by it."""
        return self.send("GET", "/api/public/projectservice/regions/countries/projects/active/count", None)

    def count_projects_of_region(self, region: Any) -> Answer:
        """Number of projects of a region by country. The same of one region, by its name in the list of regions. For example, regions/Africa."""
        return self.send("GET", f"/api/public/projectservice/regions/{_path(region)}/countries/projects/count", None)

    def count_active_projects_of_region(self, region: Any) -> Answer:
        """Number of projects of a region that accept donations by country. The same of one region, by its name in the list of regions. For example, regions/Africa."""
        return self.send("GET", f"/api/public/projectservice/regions/{_path(region)}/countries/projects/active/count", None)

    def get_project_reports(self, projectId: Any) -> Answer:
        """Progress reports of a project. The newest reports with their pictures, as an Atom feed or in JSON. For example, a page of the project shows the first entry."""
        return self.send("GET", f"/api/public/projectservice/projects/{_path(projectId)}/reports", None)

    def link_projects(self) -> Answer:
        """Link to a file of all projects. The address of one XML file with all records, for clients that need everything. For example, a nightly copy asks for the link, then downloads what it names."""
        return self.send("GET", "/api/public/projectservice/all/projects/download", None)

    def link_active_projects(self) -> Answer:
        """Link to a file of active projects. The address of one XML file with all records, for clients that need everything. For example, a nightly copy asks for the link, then downloads what it names."""
        return self.send("GET", "/api/public/projectservice/all/projects/active/download", None)

    def link_organizations(self) -> Answer:
        """Link to a file of all organisations. The address of one XML file with all records, for clients that need everything. For example, a nightly copy asks for the link, then downloads what it names."""
        return self.send("GET", "/api/public/orgservice/all/organizations/download", None)

    def link_active_organizations(self) -> Answer:
        """Link to a file of organisations with active projects. The address of one XML file with all records, for clients that need everything. For example, a nightly copy asks for the link, then downloads what it names."""
        return self.send("GET", "/api/public/orgservice/all/organizations/active/download", None)

    def link_vetted_organizations(self) -> Answer:
        """Link to a file of vetted organisations. The address of one XML file with all records, for clients that need everything. For example, a nightly copy asks for the link, then downloads what it names."""
        return self.send("GET", "/api/public/orgservice/all/organizations/vetted/download", None)

    # The end of the operations.


def _is_idempotent(body: Optional[Body]) -> bool:
    """Whether the service does the request once, however often it comes."""
    donation = (body or {}).get("donation")
    return isinstance(donation, Mapping) and bool(donation.get("transactionId"))


def _path(value: Any) -> str:
    """A value within an address. Dots alone would be a step to another address."""
    text = str(value)
    if text.strip(".") == "" and len(text) < 3:
        raise ValueError(f'expected a value for the address, got "{text}"')
    return urllib.parse.quote(text, safe="")


def _parse(text: bytes) -> Answer:
    return json.loads(text, parse_float=decimal.Decimal)


def _parse_any(text: bytes) -> Any:
    """A proxy may answer with a page of its own."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _lower(headers: Any) -> Dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _text_of_decimal(value: Any) -> str:
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise TypeError(f"{value!r} cannot be sent as JSON")
