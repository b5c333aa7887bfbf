"""Sources of fake formats: well-behaved ones, and one for each kind of failure."""

_HEAD = '''
from adapter_core.data_format import DataFormat


class Adapter(DataFormat):
    """A fake format."""

    label = "{label}"
    suffix = ".toy"
    requires = {requires}
    holds_duplicate_names = True

    def _save(self, df, path):
{save}
        df.to_pickle(path, compression=None)

    def _read(self, path, columns):
        import pandas as pd

        return pd.read_pickle(path, compression=None)
'''


def toy(label: str, save: str = "pass", requires: tuple[str, ...] = ("pandas",)) -> str:
    """Return the source of a format that pickles; `save` runs before, one statement a line."""
    body = "\n".join(f"        {line}" for line in save.splitlines())
    return _HEAD.format(label=label, requires=requires, save=body)


BROKEN_PACKAGE = 'raise OSError("libbroken.so.1: cannot open shared object file")\n'

# Only while measured, and only on one table: the warm-up has 8 rows, and of the tables with 8 columns
# only `float` has five of floats.
_IF_MEASURED = "if len(df) > 8 == df.shape[1] and (df.dtypes == 'float64').sum() == 5:\n    "

GOOD = toy("Toy")
BROKEN = toy("Broken", requires=("pandas", "broken_package"))
RAISING = toy("Raising", save='raise RuntimeError("the disk is made of cheese")')
HANGING = toy("Hanging", save=_IF_MEASURED + "import time; time.sleep(1000)")
CRASHING = toy("Crashing", save=_IF_MEASURED + "import ctypes; ctypes.string_at(0)")
_READ = "return pd.read_pickle(path, compression=None)"
LYING = GOOD.replace('"Toy"', '"Lying"').replace(_READ, f"{_READ}[::-1].reset_index(drop=True)")
LOSING = GOOD.replace('"Toy"', '"Losing"').replace(
    _READ,
    "df = pd.read_pickle(path, compression=None)\n        "
    "return df.astype({name: object for name in df if df[name].dtype == bool})",
)

# A package that is installed but fails on import; asv's own environment may contain such a package.
BROKEN_INSTALLED = toy("Broken").replace(
    "    holds_dup", '    modules = {"pandas": "adapter_core.broken_package"}\n    holds_dup'
)
EXACTING = (
    toy("Exacting", save="pass")
    .replace("    holds_dup", '    refuses = {Kind.BOOLEAN: "it tells no lies"}\n    holds_dup')
    .replace("import DataFormat", "import DataFormat\nfrom adapter_core.kinds import Kind")
)

# A storage that silently turns images upside down.
FLIPPING = """
import image_storages.sqlite


class Adapter(image_storages.sqlite.Adapter):
    label = "Flipping"
    requires = ("numpy",)

    def _read(self, path):
        images, labels = super()._read(path)
        return [image[::-1] for image in images], labels
"""
