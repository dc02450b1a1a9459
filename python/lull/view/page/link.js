// SPDX-License-Identifier: BSD-3-Clause
// Link: the WebSocket, opened again whenever it closes.

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5000;
const words = new TextDecoder();

export class Link {
  constructor(handlers) {
    this.handlers = handlers;
    this.connected = false;
    this.paused = false;
    this.wait = FIRST_WAIT_MS;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/live`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.connected = true;
      this.wait = FIRST_WAIT_MS;
      this.handlers.open();
    };
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => {
      this.connected = false;
      this.handlers.close();
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
    };
  }

  receive(data) {
    if (typeof data === "string") {
      this.handlers.text(JSON.parse(data));
      return;
    }
    const length = new DataView(data).getUint32(0);
    const header = JSON.parse(words.decode(new Uint8Array(data, 4, length)));
    this.handlers.image(header, new Uint8Array(data, 4 + length));
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
