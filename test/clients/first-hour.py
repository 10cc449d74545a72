import os
from giving import AnswerError, Client

url = os.environ.get("GIVING_URL", "http://127.0.0.1:8080")
user = {"email": os.environ["GIVING_EMAIL"], "password": os.environ["GIVING_PASSWORD"]}
key = Client(url).create_key({"key_request": {"user": user}})["key_response"]["api_key"]
client = Client(url, api_key=key, user=user)

# A walk goes on where a restart of the service interrupted it.
titles = {}
for project in client.records(client.list_projects, limit=10):
    titles[project["id"]] = project["title"]
    print(len(titles), project["title"], flush=True)

found = client.search_project_summaries(q="water")["search"]["response"]
print(found["numberFound"], "projects about water, the best is", found["projects"]["project"][0]["title"])

# The transaction id makes it safe to send again: it is charged once.
payment = {"firstname": "Lina", "lastname": "Okoro", "paymentGateway": "braintree"}
payment.update(paymentGatewayKey="sandbox_demo_key", paymentGatewayNonce="fake-valid-nonce")
gift = {"refcode": "spring", "transactionId": "tx-2", "email": user["email"], "payment_detail": payment}
gift["project"] = {"id": min(titles)}
print("given:", client.donate({"donation": {**gift, "amount": 25}})["donation"]["amount"])
try:
    client.donate({"donation": {**gift, "amount": -1}})
except AnswerError as error:
    print(error.status, error.entries)
