"""Programs for developers: checks and measurements that take long."""
