from setuptools import find_packages, setup

FOLDERS = ("core", "scenarios", "solvers", "envs", "agents", "bench")

setup(
    packages=[f"scisuite.{p}" for f in FOLDERS for p in find_packages(".", include=[f, f"{f}.*"])],
    package_dir={f"scisuite.{f}": f for f in FOLDERS},
    # package_data alone decides: otherwise setuptools takes folders of data for packages.
    include_package_data=False,
    package_data={"": ["py.typed", "*.toml", "data/*"]},
)
