"""The module `ileave`, as it was installed from its wheel. Run it by `python -m unittest discover crates/python/tests`."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import ileave

ROOT = Path(__file__).resolve().parents[3]
FAIR = ROOT / "experiments" / "fair-2006.toml"
SMALL = {
    "volume": {"drives": "2xwd740gd", "interleave": [32, 128]},
    "workload": {"read": {"count": 50}},
}
# Some thousand trials: longer than any test waits.
LONG = {
    "volume": {"drives": "2xwd740gd", "interleave": [32, 128]},
    "workload": {"read": {"count": 20000}},
    "run": {"repeats": 10000},
}


def folder():
    return Path(tempfile.mkdtemp(prefix="ileave-test-")) / "results"


class Run(unittest.TestCase):
    def test_fairs_question_is_answered(self):
        trials = ileave.run(FAIR)
        self.assertEqual(trials.attrs["answer"], "Use interleave 64 (32 KiB): fastest for read and write.")
        # Eight cells, and five seeds of each: two disks turn.
        self.assertEqual(len(trials), 8 * 5)
        best = trials.loc[trials.groupby("workload").mb_per_s.idxmax()]
        self.assertEqual(list(best["volume.interleave"]), [64, 64])
        self.assertEqual(trials.attrs["units"]["volume.interleave"], "sectors")
        self.assertEqual(trials.attrs["roles"]["volume.interleave"], "choice")

    def test_the_module_and_the_command_agree(self):
        out = folder()
        trials = ileave.run(FAIR, as_="dict", set=["volume.interleave=32,64"], out=out)
        command = Path(sys.executable).with_name("ileave")
        asked = [command, "run", FAIR, "--set", "volume.interleave=32,64", "--json"]
        said = json.loads(subprocess.check_output([*asked, "--out", folder()]))
        self.assertEqual(trials["mb_per_s"], [trial["samples"]["mb_per_s"] for trial in said["trials"]])
        report = ileave.report(out)
        self.assertEqual(report.json()["verdict"], said["verdict"])
        self.assertEqual(str(report), subprocess.check_output([command, "report", out], text=True))
        self.assertEqual(report.trials("dict"), trials)
        self.assertIn("<html", report.html())

    def test_a_dict_is_an_experiment(self):
        trials = ileave.run(SMALL, set={"volume.interleave": ["16KiB", "64KiB"], "drive.write_cache": False})
        self.assertEqual(sorted(set(trials["volume.interleave"])), [32, 128])
        self.assertEqual(str(trials["volume.interleave"].dtype), "Int64")

    def test_a_range_is_a_list(self):
        given = {**SMALL, "volume": {**SMALL["volume"], "interleave": range(32, 65, 32)}}
        self.assertEqual(sorted(set(ileave.run(given)["volume.interleave"])), [32, 64])

    def test_a_string_is_one_value_commas_or_not(self):
        out = folder()
        # It was a list of two.
        ileave.run(SMALL, set={"about": 'a, "b", [c', "volume.interleave": ["16KiB", 128]}, out=out)
        self.assertIn('a, "b", [c', (out / "manifest.toml").read_text().replace('\\"', '"'))
        ileave.run(SMALL, set=['about="a, b"'])
        with self.assertRaisesRegex(ValueError, "takes one value, not a list"):
            ileave.run(SMALL, set={"about": ["a", "b"]})

    def test_arrow_has_units(self):
        table = ileave.run(SMALL, as_="arrow")
        self.assertEqual(table.schema.field("mb_per_s").metadata[b"unit"], b"MB/s")
        self.assertEqual(str(table.schema.field("volume.interleave").type), "int64")

    def test_errors_say_what_the_command_says(self):
        wrong = {
            "nope.toml": "cannot read the experiment file nope.toml",
            str(ROOT / "Cargo.toml"): "Cargo.toml",
        }
        for path, text in wrong.items():
            with self.assertRaises(ileave.InputError) as raised:
                ileave.run(path)
            self.assertIn(text, str(raised.exception))
        with self.assertRaisesRegex(ValueError, "did you mean `volume.interleave`"):
            ileave.run(SMALL, set={"volume.interleeve": 3})
        with self.assertRaisesRegex(ValueError, 'take "pandas", "arrow" or "dict"'):
            ileave.run(SMALL, as_="polars")
        # These were errors of JSON, or of no key.
        for value, said in [
            (None, "`volume.interleave` is None"),
            (float("nan"), "`volume.interleave` is nan"),
            ([8, float("inf")], "`volume.interleave` is inf"),
            (object, "`volume.interleave` is <class 'object'>"),
        ]:
            given = {**SMALL, "volume": {**SMALL["volume"], "interleave": value}}
            for experiment, asked in [(SMALL, {"volume.interleave": value}), (given, None)]:
                with self.assertRaisesRegex(ileave.InputError, re.escape(said)):
                    ileave.run(experiment, set=asked)
        with self.assertRaisesRegex(ValueError, "write it as KEY=VALUE"):
            ileave.run(SMALL, set="volume.interleave")
        with self.assertRaisesRegex(ValueError, "already holds results"):
            out = folder()
            for _ in range(2):
                ileave.run(SMALL, out=out)

    def test_what_the_module_does_not_have_is_not_advised(self):
        with self.assertRaisesRegex(ValueError, "the module only simulates; run it with the command"):
            ileave.run(SMALL, set={"run.on": "kernel"})
        with self.assertRaisesRegex(ValueError, "resume=True needs `out`"):
            ileave.run(SMALL, resume=True)

    def test_what_is_not_installed_is_said(self):
        code = "import sys; sys.modules['pandas'] = None; import ileave; ileave.run('nope.toml')"
        ran = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        self.assertIn('pandas is not installed; `pip install "ileave[pandas]"`', ran.stderr)


def listen():
    """A shell that starts this in the background has SIGINT ignored, and Python leaves that so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Signals(unittest.TestCase):
    def test_other_threads_run_meanwhile(self):
        ticks = []
        done = threading.Event()

        def tick():
            while not done.wait(0.005):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        thread.start()
        ileave.run(SMALL, set={"run.repeats": 300, "workload.read.count": 1000}, as_="dict")
        done.set()
        thread.join()
        self.assertGreater(len(ticks), 10)

    def test_ctrl_c_ends_a_run_and_nothing_finished_is_lost(self):
        out = folder()
        code = f"import ileave; ileave.run({LONG!r}, as_='dict', out={str(out)!r})"
        child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, preexec_fn=listen)
        trials = out / "trials.jsonl"
        deadline = time.monotonic() + 60
        while child.poll() is None and not (trials.exists() and trials.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        since = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1]
        self.assertLess(time.monotonic() - since, 10)
        self.assertIn("KeyboardInterrupt", said)
        if sys.version_info >= (3, 11):
            self.assertIn("resume=True", said)
        kept = len(trials.read_text().splitlines())
        self.assertTrue(0 < kept < 20000, kept)
        self.assertEqual(len(ileave.report(out).trials("dict")["trial"]), kept)

    def test_ctrl_c_ends_tune(self):
        code = "import ileave; print('on', flush=True); [ileave.tune('8x ST18000NM000J', 'backup', seed=s) for s in range(99)]"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen)
        child.stdout.readline()
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", said)


class Objects(unittest.TestCase):
    def test_tune_says_what_to_build(self):
        tuned = ileave.tune("4x 980 pro 1tb", "postgres", level="md-raid10")
        self.assertEqual(tuned.best["volume.level"], "md-raid10")
        self.assertTrue(str(tuned).startswith(tuned.verdict[:40]))
        self.assertTrue(any("mdadm" in command["line"] for command in tuned.commands))
        with self.assertRaisesRegex(ValueError, "no drive is called"):
            ileave.tune("4x nothing", "backup")

    def test_tune_chooses_among_the_layouts_of_an_experiment(self):
        tuned = ileave.tune(experiment=FAIR, set={"volume.interleave": [32, 64]}, choose="volume.interleave")
        self.assertEqual(tuned.best, {"volume.interleave": 64})
        self.assertIn("<html", tuned.html())
        again = ileave.tune(experiment=SMALL, objective="max read")
        self.assertIn("volume.interleave", again.best)
        # What a run has measured is not measured again; and the command says the same.
        out = folder()
        ileave.run(SMALL, out=out)
        known = ileave.tune(experiment=SMALL, objective="max read", results=out)
        self.assertEqual((known.best, again.best), (again.best, known.best))
        command = Path(sys.executable).with_name("ileave")
        asked = [command, "tune", FAIR, "--set", "volume.interleave=32,64", "--choose", "volume.interleave", "--json"]
        self.assertEqual(json.loads(subprocess.check_output(asked, stderr=subprocess.DEVNULL)), tuned.data)

    def test_tune_takes_the_drives_of_a_system_and_keys(self):
        disks = [{"name": f"nvme{i}n1", "type": "disk", "model": "Samsung SSD 980 PRO 1TB", "size": 1000204886016} for i in range(4)]
        with tempfile.TemporaryDirectory() as directory:
            lsblk = Path(directory) / "lsblk.json"
            lsblk.write_text(json.dumps({"blockdevices": disks}))
            asked = dict(workload="postgres", level="md-raid10", set={"host.cpu_percent": 50}, replace_after="2d")
            tuned = ileave.tune(from_=lsblk, **asked)
        self.assertEqual(tuned.best["volume.level"], "md-raid10")
        self.assertIn("cpu_percent = 50", tuned.experiment)
        self.assertEqual(tuned.data["assumed"]["replaced_after_h"], 48.0)
        # The command says what it took; the module dropped it.
        self.assertTrue(any("matched" in note for note in tuned.notes), tuned.notes)

    def test_no_spares_are_not_spares_that_nobody_spoke_of(self):
        # Four drives of RAID 5 may lose all data more often than 1 in 500, so spares are tried where nobody spoke of them.
        asked = dict(drives="5x ST18000NM000J", workload="log", level="md-raid5")
        open_, none = [json.dumps(ileave.tune(**asked, **more).data) for more in ({}, {"spares": 0})]
        self.assertNotEqual(open_, none)

    def test_tune_says_what_does_not_go_together(self):
        wrong = [
            (dict(), "give `drives`, `from_` or `experiment`"),
            (dict(drives="4x 980 pro 1tb"), "give `workload`"),
            (dict(experiment=FAIR, workload="backup", spares=0), "workload, spares: an experiment has its own"),
            (dict(drives="4x 980 pro 1tb", workload="backup", choose="volume.level"), "choose: give the `experiment`"),
            # These were a TypeError, which names a struct.
            (dict(drives="4x 980 pro 1tb", workload="backup", survive=-1), "survive=-1: give a whole number, 0 or more"),
            (dict(drives="4x 980 pro 1tb", workload="backup", seed=1.5), "seed=1.5: give a whole number"),
            (dict(drives="4x 980 pro 1tb", workload="backup", budget=-3), "budget=-3: give an amount in US"),
            (dict(drives="4x 980 pro 1tb", workload="backup", capacity="60"), "a size has a unit"),
            (dict(experiment=SMALL, set={"run.on": "kernel"}), "the module only simulates"),
        ]
        for arguments, text in wrong:
            with self.assertRaisesRegex(ileave.InputError, text):
                ileave.tune(**arguments)

    def test_tune_asks_what_the_file_of_the_work_asks(self):
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder) / "work.toml"
            text = "[workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 100\n[ask]\nsubject_to = 'usable_tb >= {}'\n"
            work.write_text(text.format(1))
            self.assertEqual(ileave.tune("4x 980 pro 1tb", str(work), level="md-raid10").best["volume.level"], "md-raid10")
            # It was the answer all the same.
            work.write_text(text.format(3))
            with self.assertRaisesRegex(ileave.Failure, "usable_tb >= 3"):
                ileave.tune("4x 980 pro 1tb", str(work), level="md-raid10")

    def test_a_drive_has_figures_with_sources(self):
        drive = ileave.drive("Raptor 74")
        self.assertEqual((drive.name, drive.figures["rpm"].value), ("wd740gd", 10000.0))
        self.assertTrue(drive.figures["rpm"].source)
        self.assertIn("wd740gd", ileave.drives())
        with self.assertRaises(ileave.InputError):
            ileave.drive("nothing")

    def test_a_map_says_where_sectors_are(self):
        volume = ileave.map("raid5", "64KiB", members=4, member_size="1GiB")
        self.assertEqual(volume.sectors, 3 << 21)
        self.assertEqual(volume.where(7), [{"sector": 7, "places": [[0, 7]]}])
        self.assertTrue(volume.where("100+64")[0]["split"])
        self.assertEqual(ileave.map("concat", members=["1GiB", "2GiB"]).sectors, 3 << 21)

    def test_the_stub_has_every_name(self):
        stub = Path(ileave.__file__).with_name("_ileave.pyi")
        names = {node.name for node in ast.parse(stub.read_text()).body if hasattr(node, "name")}
        native = {name for name in dir(ileave._ileave) if not name.startswith("_")}
        self.assertEqual(names, native)
        self.assertTrue(stub.with_name("py.typed").exists())


if __name__ == "__main__":
    unittest.main()
