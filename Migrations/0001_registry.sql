-- Placeholder replaced before the first release.
SELECT 1;
