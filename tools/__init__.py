"""Programs for developers: checks and measurements that take minutes or more."""
