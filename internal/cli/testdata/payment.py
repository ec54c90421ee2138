"""A payment service in Python that speaks tare's peer protocol and REST with JSON.

It shows what a peer in another language is: a handshake, a server, and answers
to {"usage": true}. Standard library only.
"""

import json
import os
import platform
import re
import resource
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

OPENING = 10**15  # minor units, on each new account
ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]*")
STATUS = {"INVALID_ARGUMENT": 400, "ALREADY_EXISTS": 409, "FAILED_PRECONDITION": 400, "NOT_FOUND": 404}
DECIMALS = {"BHD": 3, "CLP": 0, "IQD": 3, "ISK": 0, "JOD": 3, "JPY": 0, "KRW": 0,
            "KWD": 3, "OMR": 3, "PYG": 0, "TND": 3, "UGX": 0, "VND": 0}


class Refused(Exception):
    def __init__(self, status, message):
        self.status, self.message = status, message


def spell(currency, minor):
    digits = DECIMALS.get(currency, 2)
    text = str(abs(minor)).rjust(digits + 1, "0")
    if digits:
        text = text[:-digits] + "." + text[-digits:]
    return ("-" if minor < 0 else "") + text + " " + currency


class Payment:
    def __init__(self, user, currency, minor, balance):
        self.content, self.balance = (user, currency, minor), balance
        self.refunded, self.refunds = 0, {}
        self.created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def status(self, refunded):
        minor = self.content[2]
        return "PAYMENT_STATUS_" + ("CHARGED" if not refunded else "REFUNDED" if refunded == minor else "PARTLY_REFUNDED")


def money(currency, minor):
    return {"currencyCode": currency, "minorUnits": str(minor)}


class Payments:
    def __init__(self):
        self.lock, self.made, self.accounts = threading.Lock(), {}, {}

    def pay(self, request):
        pid, user = request.get("paymentId", ""), request.get("userName", "")
        amount = request.get("amount") or {}
        currency, minor = amount.get("currencyCode", ""), int(amount.get("minorUnits", 0))
        check_id("payment_id", pid)
        check_text("user_name", user, 256)
        check_amount(currency, minor)
        with self.lock:
            made = self.made.get(pid)
            if made is None:
                balance = self.accounts.get((user, currency), OPENING) - minor
                if balance < 0:
                    raise Refused("FAILED_PRECONDITION",
                                  f"insufficient funds: {user} has not got {spell(currency, minor)}")
                self.accounts[user, currency] = balance
                made = self.made[pid] = Payment(user, currency, minor, balance)
            elif made.content != (user, currency, minor):
                raise Refused("ALREADY_EXISTS", f"payment_id {quote(pid)} exists with other content")
        return {
            "paymentId": pid, "status": "PAYMENT_STATUS_CHARGED",
            "charged": money(currency, minor), "balance": money(currency, made.balance),
            "message": f"{user} paid {spell(currency, minor)} and has {spell(currency, made.balance)} left.",
        }

    def find(self, pid):
        check_id("payment_id", pid)
        if pid not in self.made:
            raise Refused("NOT_FOUND", f"no payment {quote(pid)}")
        return self.made[pid]

    def get(self, pid):
        with self.lock:
            made = self.find(pid)
            user, currency, minor = made.content
            return {"payment": {
                "paymentId": pid, "userName": user, "charged": money(currency, minor),
                "refunded": money(currency, made.refunded), "status": made.status(made.refunded), "createTime": made.created,
            }}

    def refund(self, pid, request):
        rid, amount = request.get("refundId", ""), request.get("amount")
        check_id("refund_id", rid)
        if amount is not None:
            check_amount(amount.get("currencyCode", ""), int(amount.get("minorUnits", 0)))
        with self.lock:
            made = self.find(pid)
            user, currency, minor = made.content
            if amount is not None and amount["currencyCode"] != currency:
                raise Refused("INVALID_ARGUMENT", f"amount.currency_code must be that of the payment, {currency}")
            asked = 0 if amount is None else int(amount["minorUnits"])
            if rid not in made.refunds:
                left = minor - made.refunded
                if left == 0 or asked > left:
                    raise Refused("FAILED_PRECONDITION", f"less than that is left of payment {quote(pid)}")
                made.refunded += asked or left
                self.accounts[user, currency] += asked or left
                made.refunds[rid] = asked, asked or left, made.refunded, self.accounts[user, currency]
            then, given, refunded, balance = made.refunds[rid]
            if then != asked:
                raise Refused("ALREADY_EXISTS", f"refund_id {quote(rid)} of payment {quote(pid)} exists with other content")
            return {
                "paymentId": pid, "refundId": rid, "status": made.status(refunded),
                "refunded": money(currency, given), "balance": money(currency, balance),
                "message": f"{user} got {spell(currency, given)} back and has {spell(currency, balance)} left.",
            }


def check_text(field, text, most):
    if not text or len(text.encode()) > most or "\0" in text:
        raise Refused("INVALID_ARGUMENT", f"{field} must be 1 to {most} bytes long")


def check_id(field, text):
    check_text(field, text, 128)
    if not ID.fullmatch(text):
        raise Refused("INVALID_ARGUMENT", f"{field} does not match {ID.pattern}")


def check_amount(currency, minor):
    if len(currency) != 3 or not all("A" <= c <= "Z" for c in currency):
        raise Refused("INVALID_ARGUMENT", f"amount.currency_code must be three upper-case letters, is {quote(currency)}")
    if minor <= 0:
        raise Refused("INVALID_ARGUMENT", f"amount must be greater than zero, is {minor}")


def quote(text):
    return json.dumps(text, ensure_ascii=False)


class Wire:
    """Counts connections and bytes at the listener, as the peer protocol asks."""
    lock, conns, sent, received = threading.Lock(), 0, 0, 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one write for head and body

    def setup(self):
        super().setup()
        with Wire.lock:
            Wire.conns += 1

    def do_GET(self):
        self.answer(b"", lambda kept, pid, more: kept.get(pid) if pid and not more else None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))

        def call(kept, pid, more):
            if not pid:
                return kept.pay(json.loads(body))
            return kept.refund(pid, json.loads(body)) if more == "/refunds" else None
        self.answer(body, call)

    def answer(self, body, call):
        try:
            route = re.fullmatch(r"/v1/payments(?:/([^/?]+)(/refunds)?)?", self.path)
            answer = route and call(self.server.payments, unquote(route[1] or ""), route[2])
            if not answer:
                raise Refused("NOT_FOUND", "no such route")
            status, media = 200, "application/json"
        except Refused as r:
            status, media = STATUS[r.status], "application/problem+json"
            answer = {"status": status, "detail": r.message, "code": r.status}
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(text)))
        head = sum(map(len, self._headers_buffer)) + 2
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()
        with Wire.lock:
            fields = sum(len(name) + len(value) + 4 for name, value in self.headers.items())
            Wire.sent += len(self.raw_requestline) + fields + 2 + len(body)
            Wire.received += head + len(text)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128


def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"usage": {
        "cpu_user_s": used.ru_utime, "cpu_system_s": used.ru_stime,
        "peak_rss_bytes": used.ru_maxrss * 1024,
        "accepted": {"conns": Wire.conns, "sent_bytes": Wire.sent, "received_bytes": Wire.received},
        "dialed": {"conns": 0, "sent_bytes": 0, "received_bytes": 0},
    }}


def say(message):
    print(json.dumps(message), flush=True)


def main():
    start = json.loads(sys.stdin.readline())  # what to serve: this program knows one thing
    host, port = start.get("listen", "127.0.0.1:0").rsplit(":", 1)
    server = Server((host, int(port)), Handler)
    server.payments = Payments()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say({"format": 1, "pid": os.getpid(), "runtime": "python" + platform.python_version(),
         "addr": "%s:%d" % (host, server.server_port)})
    for line in sys.stdin:
        say(usage() if json.loads(line).get("usage") else {"error": "a server answers {\"usage\": true} alone"})


main()
