#!/usr/bin/env python3
"""The public benchmark's data: check_bench_data.py HALCYON MLTS MODELS

All images on one model, 12 sequences of speech, on the reference and on a device with a fault. Exit status 77 (skipped)
without the data.
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def bench(halcyon, folder, models, data, *arguments, status):
    (folder / "list.json").write_text(json.dumps({"models": models}))
    command = [halcyon, "bench", "list.json", "--json", "--no-latency"]
    for path in data:
        command += ["--data", path]
    done = subprocess.run([*command, *arguments], cwd=folder, text=True, capture_output=True, timeout=1500, check=False)
    if done.returncode != status:
        sys.exit(f"{arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(row["model"], row["target"]): row for row in rows if "model" in row}


def images(name, file, expected, **more):
    return {"name": name, "modelFile": file, "evaluator": {"className": "TopK", "expectedTop1": expected}, **more,
            "dataset": {"inputPath": "images", "groundTruth": "ground_truth_labels.txt", "labels": "labels.txt",
                        "preprocessor": "Inception"}}


def main():
    halcyon, data, models = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:4])
    if not (pathlib.Path(data) / "images.tar").exists() or not pathlib.Path(models).exists():
        print("skipped: the public benchmark's data is not beside the project")
        sys.exit(77)
    quant = {"dataSize": 1, "inputScale": 0.007812, "inputZeroPoint": 128}
    fault = "sim:cpu?fault=forget-bias-dropped"
    files = [{"input": f"tts_float/arctic_a{i:04}.input", "output": f"tts_float/arctic_a{i:04}.output"} for i in range(1, 13)]
    speech = {"name": "tts_float", "inputSize": [1, 334], "dataSize": 4, "inputOutputs": files,
              "evaluator": {"className": "MelCepLogF0", "outputMeanStdDev": "tts_float/tts_float.output_mean_std_dev"}}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = bench(halcyon, folder, [images("float", "mobilenet_v1_0.25_128_float", 0.444),
                                       images("byte", "mobilenet_v1_0.25_128_uint8", 0.402, **quant),
                                       images("half", "mobilenet_v1_0.5_160_quant", 0.550, **quant)],
                     (data, models), "-d", "golden", status=0)
        for name, expected in (("float", 0.444), ("byte", 0.402), ("half", 0.550)):
            found = rows[name, "golden"]["metrics"]["top_1"]["value"]
            print(f"{name}: top-1 {found:.4f}, published {expected}")
            if abs(found - expected) > 0.005:
                sys.exit(f"{name}: top-1 is {found}, published {expected}")
        rows = bench(halcyon, folder, [speech], (data, models), "-d", "golden", "-d", "sim:cpu", "-d", fault, status=1)
        for target, verdict in (("golden", "pass"), ("sim:cpu", "pass"), (fault, "fail")):
            row = rows["tts_float", target]
            print(f"{target}: {row['verdict']}, {row['metrics']['max_mel_cep_distortion']['value']:.3g}, "
                  f"{row['metrics']['max_log_f0_error']['value']:.3g}")
            if row["verdict"] != verdict or row["inferences"] != 1742:
                sys.exit(f"tts_float on {target}: {row['verdict']}, {row['inferences']} inferences")


if __name__ == "__main__":
    main()
