"""Tests of the installed package, one process each: `ctest -R outside` prepares what they need."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(os.environ["OUTSIDE_FOLDER"])
PREFIX = FOLDER / "prefix"
LIBRARY = PREFIX / "lib" / "libtessera.so"
PROGRAMS = FOLDER / "consumer"
TORCH = pathlib.Path(os.environ["OUTSIDE_TORCH"])
HERE = pathlib.Path(__file__).parent
NO_DRIVER = {"LD_LIBRARY_PATH": str(PROGRAMS / "no_driver")}


def run(*command, environment=None):
    """Runs a command with nothing but `environment` set; gives its exit code and what it printed."""
    done = subprocess.run([str(word) for word in command], env=environment or {}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def python(text, *arguments, environment=None):
    return run(sys.executable, "-c", text, *arguments, environment=environment)


class OutsideTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeeds(self, result):
        code, text = result
        self.assertEqual(code, 0, text)
        return text

    def module(self):
        file = self.folder / "module.pt"
        self.succeeds(run(sys.executable, HERE / "make_module.py", LIBRARY, file))
        return file

    def copy(self):
        return shutil.copy(LIBRARY, self.folder / "copy_of_libtessera.so")


class PackageTest(OutsideTest):
    def test_needs_neither_driver_nor_compiler_nor_python(self):
        self.assertNotRegex(self.succeeds(run("/usr/bin/ldd", LIBRARY)), r"libcuda\.|libnvrtc|libpython|not found")

    def test_B147_has_no_undefined_symbols(self):
        self.assertNotIn("undefined", self.succeeds(run("/usr/bin/ldd", "-r", LIBRARY)))

    def test_B147_run_path_is_own_folder_and_torch(self):
        text = self.succeeds(run("/usr/bin/readelf", "-d", LIBRARY))
        paths = text.split("Library runpath: [")[1].split("]")[0].split(":")
        self.assertEqual(paths, ["$ORIGIN", str(TORCH / "lib"), str(TORCH.parent / "nvidia/cu13/lib")])

    def test_B147_names_no_folder_of_the_build(self):
        folders = [re.escape(os.environ[name].encode()) for name in ("OUTSIDE_SOURCE", "OUTSIDE_BUILD")]
        path = re.compile(rb"(?<![\w.-])(?:" + b"|".join(folders) + rb")/[ -~]*")  # not the end of a longer path
        for file in PREFIX.rglob("*"):
            if file.is_file():
                self.assertEqual(path.findall(file.read_bytes()), [], file)

    def test_command_finds_the_library(self):
        self.assertIn("TESSERA_POLICY", self.succeeds(run(PREFIX / "bin" / "tessera", "env")))

    def test_headers_compile_without_further_libraries(self):
        text = self.succeeds(run(PROGRAMS / "headers"))
        self.assertIn("linear(): expected", text)
        self.assertIn("expected a dtype, one of boolean, i32, i64, f16, bf16, f32, but got 'f8'", text)

    def test_programs_of_the_readme_run(self):
        self.assertIn("on NVIDIA H200 (sm_90a)", self.succeeds(run(PROGRAMS / "readme_1")))
        self.assertIn("CPUFloatType{64,1000}", self.succeeds(run(PROGRAMS / "readme_2")))


class FindPackageTest(OutsideTest):
    def find(self, *settings, environment=None, version="0.1"):
        (self.folder / "CMakeLists.txt").write_text(f"""
            cmake_minimum_required(VERSION 3.18)
            project(Finder LANGUAGES NONE)
            find_package(Tessera {version} REQUIRED)
            get_target_property(libraries tessera_torch INTERFACE_LINK_LIBRARIES)
            message(STATUS "uses ${{libraries}}")""")
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        return run("cmake", "-S", self.folder, "-B", self.folder / "build", f"-DTessera_DIR={PREFIX}/lib/cmake/Tessera",
                   *settings, environment=path | (environment or {}))

    def test_B145_finds_torch(self):
        uses = f"uses {TORCH}/lib/libc10.so"
        nowhere = {"HOME": str(self.folder)}
        self.assertIn(uses, self.succeeds(self.find(f"-DTESSERA_TORCH_DIR={TORCH}", environment=nowhere)))
        self.assertIn(uses, self.succeeds(self.find(f"-DTESSERA_TORCH_PYTHON={sys.executable}", environment=nowhere)))
        self.assertIn(uses, self.succeeds(self.find(f"-DCMAKE_PREFIX_PATH={TORCH}/share/cmake", environment=nowhere)))
        self.assertIn(uses, self.succeeds(self.find(f"-DPython3_EXECUTABLE={sys.executable}", environment=nowhere)))
        dependencies = self.folder / ".cache/tessera-deps/torch-2.11.0/lib/python3.11/site-packages"
        dependencies.mkdir(parents=True)
        (dependencies / "torch").symlink_to(TORCH)
        self.assertIn(f"uses {dependencies}/torch/lib/libc10.so",
                      self.succeeds(self.find("-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON", environment=nowhere)))

    def test_says_what_is_missing(self):
        code, text = self.find("-DTESSERA_TORCH_DIR=/somewhere")
        self.assertNotEqual(code, 0)
        words = " ".join(text.split())
        self.assertIn("Tessera needs torch 2.11 for CUDA 13, and none was found. Seen: /somewhere: no torch 2.11 Install it (pip "
                      "install torch==2.11.*) and name its Python, -DTESSERA_TORCH_PYTHON=FILE, or its folder, "
                      "-DTESSERA_TORCH_DIR=FOLDER.", words)

    def test_compares_versions(self):
        code, text = self.find(version="0.2")
        self.assertNotEqual(code, 0)
        self.assertIn("version: 0.1", text)


class LinkedTest(OutsideTest):
    def test_registrations_survive_the_linker(self):
        self.succeeds(run(PROGRAMS / "linked"))

    def test_runs_a_script(self):
        self.assertEqual(self.succeeds(run(PROGRAMS / "script_linked", self.module())), "done\n")

    def test_B126_may_be_loaded_again(self):
        text = self.succeeds(run(PROGRAMS / "repeated_linked", LIBRARY, self.copy()))
        self.assertIn("another copy of libtessera.so is loaded", text)
        self.assertTrue(text.endswith("done\n"), text)


class OpenedTest(OutsideTest):
    def test_B124_script_is_unknown_until_the_library_is_open(self):
        text = self.succeeds(run(PROGRAMS / "script_opened", self.module(), LIBRARY))
        self.assertIn("Unknown builtin op: tessera::linear_gelu", text)
        self.assertTrue(text.endswith("done\n"), text)

    def test_B126_may_be_loaded_again(self):
        text = self.succeeds(run(PROGRAMS / "repeated_opened", LIBRARY, self.copy()))
        self.assertIn("another copy of libtessera.so is loaded", text)
        self.assertTrue(text.endswith("done\n"), text)


class PythonTest(OutsideTest):
    USE = """
import sys, torch
for library in sys.argv[1:]:
    torch.ops.load_library(library)
x, w, b = torch.randn(3, 5), torch.randn(4, 5), torch.randn(4)
torch.testing.assert_close(torch.ops.tessera.linear_gelu(x, w, b), torch.nn.functional.gelu(x @ w.T + b))
torch.testing.assert_close(torch.ops.tessera.softmax(x, 1), torch.softmax(x, 1))
"""

    def test_load_library(self):
        self.assertEqual(self.succeeds(python(self.USE, LIBRARY)), "")

    def test_B126_may_be_loaded_again(self):
        text = self.succeeds(python(self.USE, LIBRARY, LIBRARY, self.copy(), LIBRARY))
        self.assertIn("another copy of libtessera.so is loaded", text)


class NoDriverTest(OutsideTest):
    """The driver that these see ends every process which uses it."""

    def test_the_driver_ends_its_process(self):
        code, text = python("import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)", environment=NO_DRIVER)
        self.assertEqual((code, text), (-6, "the driver was used\n"))

    def test_B122_library_does_not_open_it(self):
        text = self.succeeds(run(PROGRAMS / "linked", environment=NO_DRIVER | {"LD_DEBUG": "files"}))
        openings = re.findall(r"file=(\S+) \[0\];  dynamically loaded by (\S+)", text)
        self.assertTrue(openings)
        self.assertFalse([opening for opening in openings if "libtessera" in opening[1]])

    def test_B122_linked(self):
        self.succeeds(run(PROGRAMS / "linked", environment=NO_DRIVER))

    def test_B122_opened(self):
        self.succeeds(run(PROGRAMS / "script_opened", self.module(), LIBRARY, environment=NO_DRIVER))

    def test_B122_python(self):
        self.assertEqual(self.succeeds(python(PythonTest.USE, LIBRARY, environment=NO_DRIVER)), "")

    def test_B122_no_visible_device(self):
        self.succeeds(run(PROGRAMS / "linked", environment={"CUDA_VISIBLE_DEVICES": ""}))


if __name__ == "__main__":
    unittest.main()
