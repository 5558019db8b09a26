"""A bucket over the protocol of S3: moto's server on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path


class Bucket:
    """A server with one bucket, and the command line with what it needs to reach it."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.folder = folder
        self.access = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "something",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        self.variables = {**os.environ, **self.access, "SYNTH_COPIES": str(folder / "copies")}
        for _ in range(200):
            try:
                request = urllib.request.Request(f"{self.url}/bucket", method="PUT")
                urllib.request.urlopen(request).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("moto's server does not answer")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()

    def synth(self, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run([str(Path(sys.executable).with_name("synth")), *line.split()], **variables)

    def run(self, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.variables, **variables}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    def code(self, text: str) -> str:
        """What Python prints there, with the driver as ``files``."""
        head = "import fsspec, json; files = fsspec.filesystem('s3');"
        done = self.run([sys.executable, "-c", head + text])
        assert done.returncode == 0, done.stderr
        return done.stdout
