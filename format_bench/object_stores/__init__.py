"""Object stores: servers of S3, a proxy that counts and breaks requests, costs and faults of formats."""
