"""A payment service in Python that speaks tare's peer protocol and REST with JSON.

It shows what a peer in another language is: a handshake, a server, and answers
to {"usage": true}. Standard library only.
"""

import json
import os
import platform
import resource
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OPENING = 10**15  # minor units, on each new account
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


class Payments:
    def __init__(self):
        self.lock, self.made, self.accounts = threading.Lock(), {}, {}

    def pay(self, request):
        pid, user = request.get("paymentId", ""), request.get("userName", "")
        amount = request.get("amount") or {}
        currency, minor = amount.get("currencyCode", ""), int(amount.get("minorUnits", 0))
        self.validate(pid, user, currency, minor)
        with self.lock:
            content = (user, currency, minor)
            if pid in self.made:
                content_then, balance = self.made[pid]
                if content_then != content:
                    raise Refused("ALREADY_EXISTS", f"payment_id {quote(pid)} exists with other content")
            else:
                balance = self.accounts.get((user, currency), OPENING) - minor
                if balance < 0:
                    raise Refused("FAILED_PRECONDITION",
                                  f"insufficient funds: {user} has not got {spell(currency, minor)}")
                self.accounts[user, currency] = balance
                self.made[pid] = content, balance
        return {
            "paymentId": pid, "status": "PAYMENT_STATUS_CHARGED",
            "charged": {"currencyCode": currency, "minorUnits": str(minor)},
            "balance": {"currencyCode": currency, "minorUnits": str(balance)},
            "message": f"{user} paid {spell(currency, minor)} and has {spell(currency, balance)} left.",
        }

    @staticmethod
    def validate(pid, user, currency, minor):
        for field, text, most in (("payment_id", pid, 128), ("user_name", user, 256)):
            size = len(text.encode())
            if not text:
                raise Refused("INVALID_ARGUMENT", f"{field} must not be empty")
            if size > most:
                raise Refused("INVALID_ARGUMENT", f"{field} must not be longer than {most} bytes, is {size}")
        if len(currency) != 3 or not all("A" <= c <= "Z" for c in currency):
            raise Refused("INVALID_ARGUMENT",
                          f"amount.currency_code must be three upper-case letters, is {quote(currency)}")
        if minor <= 0:
            raise Refused("INVALID_ARGUMENT", f"amount.minor_units must be greater than 0, is {minor}")


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

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            if self.path != "/v1/payments":
                raise Refused("NOT_FOUND", "no such route")
            status, media, answer = 200, "application/json", self.server.payments.pay(json.loads(body))
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
