"""A service on this machine whose answers a test chooses."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Service:
    """``answers`` are taken in their order, the last one for ever: (status, headers, body or bytes)."""

    def __init__(self, *answers):
        self.requests = []
        remaining = list(answers)
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def handle_request(self):
                length = int(self.headers.get("Content-Length") or 0)
                requests.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
                status, headers, body = remaining.pop(0) if len(remaining) > 1 else remaining[0]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = handle_request

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
