"""Batched generation for a model of Llama's kind, where torch is at hand and vLLM is not.

Requests take slots of one batch and leave it as they end (continuous batching). On a GPU a decoding step replays a CUDA
graph; on a CPU the same code runs eagerly.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForCausalLM

__all__ = ["Engine", "Generated", "Request"]

_STEP = 512
"""Keys are read in multiples of so many positions: each multiple has a graph of its own."""
_PREFILL = 65_536
"""Tokens of prompts, padding included, that are read at once."""


@dataclass(frozen=True)
class Generated:
    tokens: tuple[int, ...]
    """Without the token that ended it."""
    ended: bool
    """The model ended it; else the budget of tokens did."""


@dataclass
class Request:
    prompt: Sequence[int]
    budget: int
    temperature: float = 0.0
    done: Future[Generated] = field(default_factory=Future)
    made: list[int] = field(default_factory=list)


class Engine(threading.Thread):
    """One model, ``slots`` sequences of at most ``length`` tokens at a time."""

    def __init__(self, folder: str, *, slots: int = 128, length: int = 4096, dtype: torch.dtype = torch.bfloat16):
        super().__init__(name=f"engine of {folder}", daemon=True)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.length, self.slots = length, slots
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(self.device).eval()
        self.config = config = model.config
        self.heads, self.groups = config.num_key_value_heads, config.num_attention_heads // config.num_key_value_heads
        self.width = config.head_dim
        self.model = model
        shape = (config.num_hidden_layers, slots, self.heads, length, self.width)
        self.keys = torch.zeros(shape, dtype=dtype, device=self.device)
        self.values = torch.zeros_like(self.keys)
        self.tokens = torch.zeros(slots, dtype=torch.long, device=self.device)
        self.positions = torch.zeros(slots, dtype=torch.long, device=self.device)
        self.temperatures = torch.zeros(slots, device=self.device)
        self.rows = torch.arange(slots, device=self.device)
        theta = config.rope_parameters["rope_theta"]
        turns = theta ** (-torch.arange(0, self.width, 2, device=self.device).float() / self.width)
        angles = torch.outer(torch.arange(length, device=self.device).float(), turns).repeat(1, 2)
        self.cosines, self.sines = angles.cos().to(dtype), angles.sin().to(dtype)
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self.pool: Any = None
        self.eager = self.device.type != "cuda"
        self.waiting: queue.Queue[Request | None] = queue.Queue()
        self.live: dict[int, Request] = {}
        self.steps = self.generated = 0
        self.broken: BaseException | None = None

    def ask(self, request: Request) -> Future[Generated]:
        if self.broken is not None:
            raise RuntimeError("the engine broke") from self.broken
        if not 0 < len(request.prompt) <= self.length - request.budget:
            raise ValueError(f"{len(request.prompt)} tokens and {request.budget} more are over {self.length}")
        self.waiting.put(request)
        return request.done

    def stop(self) -> None:
        self.waiting.put(None)

    @torch.inference_mode()
    def run(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
            torch.cuda.set_stream(torch.cuda.Stream())  # a graph can't be recorded in the default one
        try:
            while self._admit():
                if self.live:
                    self._step()
        except BaseException as error:
            self.broken = error
            while not self.waiting.empty():
                if (request := self.waiting.get()) is not None:
                    request.done.set_exception(error)
            for request in self.live.values():
                request.done.set_exception(error)
            raise

    def _admit(self) -> bool:
        """Give free slots to waiting requests, an eighth of all slots or more at a time; False when the engine stops.

        Reading a prompt holds up every running sequence, and a dozen prompts take hardly longer than one.
        """
        free = [slot for slot in range(self.slots) if slot not in self.live]
        taken: list[Request] = []
        if self.live and min(len(free), self.waiting.qsize()) < self.slots // 8:
            return True
        while len(taken) < len(free):
            try:
                request = self.waiting.get(block=not self.live and not taken, timeout=None)
            except queue.Empty:
                break
            if request is None:
                return False
            taken.append(request)
        taken.sort(key=lambda request: len(request.prompt))
        while taken:
            many = len(taken)
            while many > 1 and many * len(taken[many - 1].prompt) > _PREFILL:
                many -= 1
            now, taken = taken[:many], taken[many:]
            self._prefill(now, free[:many])
            free = free[many:]
        return True

    def _prefill(self, requests: Sequence[Request], slots: Sequence[int]) -> None:
        lengths = torch.tensor([len(request.prompt) for request in requests], device=self.device)
        longest = int(lengths.max())
        padded = torch.tensor([[*r.prompt, *[0] * (longest - len(r.prompt))] for r in requests], device=self.device)
        rows = torch.tensor(slots, device=self.device)
        hidden = self.model.model.embed_tokens(padded)
        cosines, sines = self.cosines[:longest], self.sines[:longest]
        for number, layer in enumerate(self.model.model.layers):
            q, k, v = self._project(layer, hidden)
            q, k = _turn(q, cosines, sines), _turn(k, cosines, sines)
            self.keys[number, rows, :, :longest], self.values[number, rows, :, :longest] = k, v
            # What pads a row stands behind it, so that causal attention never reads it.
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            hidden = _rest(layer, hidden, seen.transpose(1, 2).flatten(2))
        last = hidden[torch.arange(len(requests), device=self.device), lengths - 1]
        temperatures = torch.tensor([request.temperature for request in requests], device=self.device)
        self.temperatures[rows], self.positions[rows] = temperatures, lengths
        self.tokens[rows] = self._draw(last, temperatures)
        for request, slot, token in zip(requests, slots, self.tokens[rows].tolist(), strict=True):
            self.live[slot] = request
            self._take(slot, token)

    def _project(self, layer: Any, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of shape (rows, heads, positions, width)."""
        attention, normed = layer.self_attn, layer.input_layernorm(hidden)
        parts = (attention.q_proj(normed), attention.k_proj(normed), attention.v_proj(normed))
        q, k, v = (part.unflatten(-1, (-1, self.width)).transpose(-3, -2) for part in parts)
        return q, k, v

    def _draw(self, hidden: Tensor, temperatures: Tensor) -> Tensor:
        logits = self.model.lm_head(self.model.model.norm(hidden)).float()
        noise = -torch.empty_like(logits).exponential_().log()  # Gumbel's: the maximum is a draw
        return (logits + temperatures[:, None] * noise).argmax(-1)

    def _step(self) -> None:
        furthest = max(len(request.prompt) + len(request.made) for request in self.live.values())
        span = min(-(-furthest // _STEP) * _STEP, self.length)
        if not self.eager:
            try:
                self._graph(span).replay()
            except RuntimeError as error:  # slower, and right all the same
                print(f"no graph of {span} positions: {error}", file=sys.stderr, flush=True)
                self.eager = True
        if self.eager:
            self._decode(span)
        self.steps += 1
        for slot, token in enumerate(self.tokens.tolist()):
            if slot in self.live:
                self._take(slot, token)

    def _graph(self, span: int) -> torch.cuda.CUDAGraph:
        if span not in self.graphs:
            kept = self.tokens.clone(), self.positions.clone()
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._decode(span)  # kernels are chosen before they are recorded
            torch.cuda.current_stream().wait_stream(side)
            self.tokens.copy_(kept[0])
            self.positions.copy_(kept[1])
            self.graphs[span] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graphs[span], pool=self.pool, capture_error_mode="thread_local"):
                self._decode(span)
            self.pool = self.graphs[span].pool()
        return self.graphs[span]

    def _decode(self, span: int) -> None:
        """One token more for every slot; what a free slot gets is never read."""
        at = self.positions.clamp(max=self.length - 1)
        cosines, sines = self.cosines[at][:, None, None], self.sines[at][:, None, None]
        hidden = self.model.model.embed_tokens(self.tokens)[:, None]
        hides = torch.arange(span, device=self.device)[None] > at[:, None]
        for number, layer in enumerate(self.model.model.layers):
            q, k, v = self._project(layer, hidden)
            q, k = _turn(q, cosines, sines), _turn(k, cosines, sines)
            self.keys[number, self.rows, :, at], self.values[number, self.rows, :, at] = k[:, :, 0], v[:, :, 0]
            q = q.view(self.slots, self.heads, self.groups, self.width)
            scores = (q @ self.keys[number, :, :, :span].transpose(-1, -2)).float() * self.width**-0.5
            weights = scores.masked_fill(hides[:, None, None], float("-inf")).softmax(-1).to(hidden.dtype)
            seen = weights @ self.values[number, :, :, :span]
            hidden = _rest(layer, hidden, seen.reshape(self.slots, 1, -1))
        self.tokens.copy_(self._draw(hidden[:, 0], self.temperatures))
        self.positions.add_(1)

    def _take(self, slot: int, token: int) -> None:
        request = self.live[slot]
        ended = token == self.config.eos_token_id
        if not ended:
            request.made.append(token)
        self.generated += 1
        if ended or len(request.made) >= request.budget:
            del self.live[slot]
            request.done.set_result(Generated(tuple(request.made), ended))


def _turn(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotary positions, as Llama's code has them: the two halves of a head are one pair."""
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat((-second, first), -1) * sines


def _rest(layer: nn.Module, hidden: Tensor, seen: Tensor) -> Tensor:
    hidden = hidden + layer.self_attn.o_proj(seen)
    return hidden + layer.mlp(layer.post_attention_layernorm(hidden))
