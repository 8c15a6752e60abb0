-- What stopped a projection last is told also when nothing stops it any more.
ALTER TABLE checkpoint
  ADD COLUMN last_failure text,
  ADD COLUMN last_failed_at bigint;
UPDATE checkpoint SET last_failure = failure, last_failed_at = failed_at;
