"""What is run in pages: a clock and draws that are the same in every run, one window, no files; and reading a page."""

from __future__ import annotations

__all__ = ["IN_PAGES", "NO_CARET", "READY", "READ_PAGE", "START"]

IN_PAGES = """
(() => {
  let state = 0;
  const next = () => {
    if (!state) state = ((Date.now() / 1000) ^ SEED) >>> 0 || 1;
    state = (state + 0x6D2B79F5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  Math.random = () => next() / 4294967296;
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() & 255;
    return array;
  };
  crypto.randomUUID = () => {
    const b = crypto.getRandomValues(new Uint8Array(16));
    b[6] = (b[6] & 15) | 64; b[8] = (b[8] & 63) | 128;
    const h = Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
  };
  // One page, no windows: what would open another one opens here.
  window.open = (url) => { if (url) location.href = url; return null; };
  const here = (event) => {
    const target = event.target instanceof Element && event.target.closest('a[target], area[target], form[target]');
    if (target) target.target = '_self';
  };
  addEventListener('click', here, true);
  addEventListener('submit', here, true);
  // A link that saves a file: nobody is told of it before the file comes. What is elsewhere is gone to, not saved.
  const saves = (link) => link && link.hasAttribute('download') && link.href &&
    (link.origin === location.origin || !/^https?:$/.test(link.protocol));
  addEventListener('click', (event) => {
    if (event.defaultPrevented || !(event.target instanceof Element) || !saves(event.target.closest('a'))) return;
    event.preventDefault();
    console.debug('NO_FILES');
  });
  // One that stands in no page: its clicks come by no listener of the page's.
  for (const name of ['click', 'dispatchEvent']) {
    const really = HTMLElement.prototype[name];
    HTMLAnchorElement.prototype[name] = function (...given) {
      if (this.isConnected || !saves(this) || (given.length && given[0].type !== 'click')) {
        return really.apply(this, given);
      }
      console.debug('NO_FILES');
      return true;
    };
  }
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete window[name];
  for (const name of ['Worker', 'SharedWorker']) {
    window[name] = class {
      constructor() { throw new DOMException('No workers run here.', 'SecurityError'); }
    };
  }
  // A connection that stays open has no end that one could wait for: it fails, and what it asked for is asked for once,
  // so that the border of the site says what it says of any request.
  for (const [name, closed] of [['WebSocket', 3], ['EventSource', 2]]) {
    window[name] = class extends EventTarget {
      constructor(url) {
        super();
        const to = new URL(url, location.href);
        Object.assign(this, { url: to.href, readyState: 0, bufferedAmount: 0, protocol: '', extensions: '' });
        to.protocol = to.protocol.replace('ws', 'http');
        const asked = to.origin === location.origin ? Promise.resolve() : fetch(to, { mode: 'no-cors' });
        asked.catch(() => 0).then(() => { this.fail('error'); this.fail('close'); });
      }
      fail(kind) {
        this.readyState = closed;
        const event = new Event(kind);
        this.dispatchEvent(event);
        if (typeof this[`on${kind}`] === 'function') this[`on${kind}`](event);
      }
      send() { if (!this.readyState) throw new DOMException('It is not open.', 'InvalidStateError'); }
      close() { this.readyState = closed; }
    };
  }
})();
"""
START = """
(() => {
  // The first document of the site finds what an episode begins with; one that it goes on to finds what it left.
  if (window !== top || location.origin !== ADDRESS || document.referrer || localStorage.length) return;
  for (const { name, value } of ENTRIES) localStorage.setItem(name, value);
})();
"""
"""In place of Playwright's ``storage_state``, which opens and closes a page of its own for it: half of what a context
costs. It is taken out when the first page stands."""

NO_CARET = "input, textarea, [contenteditable] { caret-color: transparent !important; }"
"""A caret blinks. Playwright's own way to hide it leaves ``style=""`` on every text box: a picture must not change the
page."""
READY = """
new Promise((told) => {
  const { port1, port2 } = new MessageChannel();
  let left = 2;
  port1.onmessage = () => { if (left--) port2.postMessage(0); else { port1.close(); told(document.readyState); } };
  port2.postMessage(0);
})
"""
"""Asked for behind what waits in the page already, such as the script of a ``javascript:`` link that was clicked."""
READ_PAGE = """
async (whole) => {
  const kind = document.doctype ? `<!DOCTYPE ${document.doctype.name}>\\n` : '';
  const local = Object.keys(localStorage).sort().map((name) => ({ name, value: localStorage.getItem(name) }));
  const databases = indexedDB.databases ? (await indexedDB.databases()).length : 1;
  return [document.title, whole ? kind + document.documentElement.outerHTML : '', local, databases, icons()];
  // Links and buttons without words, each with the hint that a person is shown.
  function icons() {
    const all = document.querySelectorAll('a[href], button, [role="link"], [role="button"]');
    const shown = [...all].filter((one) => !one.textContent.trim() && !one.ariaLabel
      && !one.hasAttribute('aria-labelledby') && !one.querySelector('[alt]:not([alt=""]), [aria-label], svg title')
      && !one.closest('[aria-hidden="true"]') && one.checkVisibility({ visibilityProperty: true }));
    const role = (one) => one.getAttribute('role') || (one.tagName === 'A' ? 'link' : 'button');
    return shown.map((one) => [role(one), one.title.trim().replace(/\\s+/g, ' ')]);
  }
}
"""
