"""The table of systems in the manual (docs/guides/gallery.md), read: which paper, which key, which command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "ROWS", "SYSTEMS", "System"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "gallery.md"

SYSTEMS = re.split(
    r",\s+",
    """SearchGym, LongTraceRL, OpenSeeker, GraphWalker, GraphGen, SailorFog-QA, ASearcher, MaskSearch, SciResearcher,
HyperEyes, ParallelSearch, CaRR, TaskCraft, SSP, DARC, RAGShaper, ZeroSearch, DocDancer, HierSearch, MARAG-R1,
LOGIGEN, ASTRA, CM2, OS-Genesis, Explorer, ReSeek, R3L, CAT, SearchSwarm, DR-Venus, CSO, VPPO, AgentProcessBench,
PivotRL, EEF, MatchTIR, IGPO, DeepVerifier, FinTrace, Plan-RewardBench, FATE, AgentAlign, CoSearch, RubricEM, A2TGPO,
SIOP, PBSD, PAV, Search-R2, KEPO, BAVT, LATR, ProAct, APEX-Searcher, AI-SearchPlanner, RAFT, DualTune,
Prism-Reranker, Chain-of-Agents, SWE-Compressor, MemSearcher, AtomMem, Memory-R2, DocScope, VRAG, ATBench, AIDSAFE,
MOSAIC, PING, tau-bench, SWE-smith, InjecAgent, AgentDojo, VinePPO, TreeRPO, GiGPO, OEC, DAgger,
Trajectory-Refined Distillation, behaviours of agentic search""",
)
"""Published systems whose ideas are in here, or were weighed and left out."""


@dataclass(frozen=True)
class System:
    """A row of one of the page's tables."""

    key: str
    """Recipe or key."""
    after: str
    commands: tuple[str, ...]
    simpler: str
    columns: tuple[str, ...]
    """Columns of the last export in which the row says that it is seen."""

    @property
    def built(self) -> bool:
        return self.key != "not built"


def _rows() -> tuple[System, ...]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 4 or cells[1] == "after":
            continue
        key, after, shown, simpler = cells
        recipe = re.fullmatch(r"`([a-z0-9-]+)`", key)
        commands = re.findall(r"`((?:synth|python|PYTHONPATH=tests python) [^`]*)`", shown)
        if recipe and not commands:
            commands = [f"synth build {recipe[1]} --tasks 10"]
        named = re.search(r"\(columns? ([^);]*)", shown)
        columns = tuple(re.findall(r"`([a-z_]+)`", named[1])) if named else ()
        found.append(System(key.strip("`"), after, tuple(commands), simpler.rstrip("| "), columns))
    return tuple(found)


ROWS = _rows()
