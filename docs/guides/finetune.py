"""Train a model on an export of `synth` with unmodified TRL: python finetune.py MODEL EXPORT OUT [--method dpo].

Exports `trl-sft`, `trl-rft` and `trl-corrections` take the default method, `trl-dpo` takes `--method dpo`. Several
exports with the same columns are trained on together. Rows are not truncated: `synth export --max-length` does that.
"""

import argparse
from pathlib import Path

import datasets
import torch
import trl
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.trainer_utils import get_last_checkpoint

RATES = {"sft": 5e-4, "dpo": 1e-5}  # for a model of 135 million parameters; larger ones want less

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model", help="a folder, or a name on the Hub; its chat template marks {%% generation %%}")
parser.add_argument("export", nargs="+", help="the folder that `synth export` wrote, or several")
parser.add_argument("out", type=Path, help="the folder of the trained model; a rerun resumes in it")
parser.add_argument("--method", choices=RATES, default="sft")
parser.add_argument("--rows", type=int, help="how many rows, drawn by the seed; default all")
parser.add_argument("--epochs", type=float, default=1.0)
parser.add_argument("--rate", type=float, help="learning rate")
parser.add_argument("--batch", type=int, default=2, help="rows per step")
parser.add_argument("--seed", type=int, default=7)
given = parser.parse_args()
exports = [datasets.load_dataset(folder, split="train") for folder in given.export]
rows = datasets.concatenate_datasets(exports).shuffle(seed=given.seed)
rows = rows.select(range(min(given.rows or len(rows), len(rows))))
tokenizer = AutoTokenizer.from_pretrained(given.model)
dpo, sft = (trl.DPOConfig, trl.DPOTrainer), (trl.SFTConfig, trl.SFTTrainer)
config, trainer_class = dpo if given.method == "dpo" else sft
gpu, checkpoints = torch.cuda.is_available(), given.out / "checkpoints"
arguments = config(
    **({} if given.method == "dpo" else {"assistant_only_loss": True}),
    output_dir=checkpoints,
    max_length=None,
    learning_rate=given.rate or RATES[given.method],
    lr_scheduler_type="cosine",
    warmup_steps=3,
    num_train_epochs=given.epochs,
    per_device_train_batch_size=given.batch if gpu else 1,
    gradient_accumulation_steps=1 if gpu else given.batch,
    bf16=True,  # computed in 16 bits, kept in 32
    use_cpu=not gpu,
    gradient_checkpointing=gpu,
    logging_steps=1,
    save_steps=0.25,  # of all steps
    save_total_limit=1,
    report_to="none",
    seed=given.seed,
)
model = AutoModelForCausalLM.from_pretrained(given.model, dtype=torch.float32)
trainer = trainer_class(model, args=arguments, train_dataset=rows, processing_class=tokenizer)
trainer.train(resume_from_checkpoint=get_last_checkpoint(checkpoints) if checkpoints.is_dir() else None)
trainer.model.to(torch.bfloat16).save_pretrained(given.out)
tokenizer.save_pretrained(given.out)
