"""The build backend of `pip install .` (PEP 517): builds with CMake and packs a wheel.

    pip install .                                   builds in build/wheel
    pip install . -C build-dir=build/release        takes what is built there
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PROGRAM = "dasgd_program"


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"dasgd-{version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name))
    for file, text in metadata().items():
        with open(os.path.join(metadata_directory, name, file), "w", encoding="utf-8") as out:
            out.write(text)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = build_directory((config_settings or {}).get("build-dir"))
    run("cmake", "--build", build, "--target", "dasgd_python", "dasgd_app")
    name = f"dasgd-{version()}-{tag()}.whl"
    with Wheel(os.path.join(wheel_directory, name)) as wheel:
        package = os.path.join(build, "python", "dasgd")
        module = "_core" + sysconfig.get_config_var("EXT_SUFFIX")
        if not os.path.exists(os.path.join(package, module)):
            sys.exit(f"{package}: has no {module}: it was built for another Python than {sys.executable}")
        for file in sorted(os.listdir(package)):
            if file == module or not re.match(r"_core\.|__pycache__", file):
                wheel.add_file(os.path.join(package, file), "dasgd/" + file)
        wheel.add_file(os.path.join(build, "dasgd"), "dasgd/" + PROGRAM)
        for file, text in metadata().items():
            wheel.add(f"dasgd-{version()}.dist-info/{file}", text.encode())
    return name


def build_directory(given):
    if given:
        return os.path.abspath(os.path.join(SOURCE, given))
    build = os.path.join(SOURCE, "build", "wheel")
    options = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_UNITY_BUILD": "ON", "DASGD_BUILD_PYTHON": "ON",
               "DASGD_BUILD_TESTS": "OFF", "DASGD_BUILD_EXAMPLES": "OFF", "Python_EXECUTABLE": sys.executable}
    run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", *(f"-D{key}={value}" for key, value in options.items()))
    return build


def run(*command):
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        sys.exit("failed: " + " ".join(command))


def version():
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(dasgd VERSION ([\d.]+)", file.read()).group(1)


def tag():
    python = "cp{}{}".format(*sys.version_info[:2])
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def metadata():
    with open(os.path.join(SOURCE, "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()

    def field(name):
        return re.search(rf'^{name} = "(.*)"$', text, re.M).group(1)

    needed = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]$", text, re.M).group(1))
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {field('name')}\nVersion: {version()}\nSummary: {field('description')}\n"
        + f"Requires-Python: {field('requires-python')}\n" + "".join(f"Requires-Dist: {one}\n" for one in needed),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: dasgd_wheel\nRoot-Is-Purelib: false\nTag: {tag()}\n",
        "entry_points.txt": "[console_scripts]\ndasgd = dasgd._program:main\n",
    }


class Wheel:
    """An archive that keeps the sums of what is in it."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name)
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def add_file(self, path, name):
        with open(path, "rb") as file:  # a link is what it leads to
            self.add(name, file.read(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            name = f"dasgd-{version()}.dist-info/RECORD"
            self.add(name, "\n".join([*self.record, f"{name},,", ""]).encode())
        self.zip.close()
