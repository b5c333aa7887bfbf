"""Tests of cron.sh."""
