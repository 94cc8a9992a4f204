"""A language model on loopback that answers as a test says."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[dict[str, str]], str | None]
"""From what a request shows in fences, by name, to the content of the answer; None is refused with 404."""
_FENCE = re.compile(r"===== (.+?) ([0-9a-f]{16}) =====\n(.*?)\n===== end of \1 \2 =====", re.DOTALL)


@contextmanager
def judge(answer: Answer) -> Iterator[str]:
    """The spec of a judge that is there while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            shown = {name: inside for name, _, inside in _FENCE.findall(request["messages"][1]["content"])}
            content = answer({n: re.sub("^│ ", "", text, flags=re.M) for n, text in shown.items()})
            message = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 20}
            body = {"model": "fake", "choices": [message], "usage": usage}
            if content is None:
                body = {"error": {"message": "no such model"}}
            data = json.dumps(body).encode()
            self.send_response(404 if content is None else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"openai(model=fake,base_url=http://127.0.0.1:{server.server_port}/v1)"
        server.shutdown()
