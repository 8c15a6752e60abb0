-- The ledger also says what the log was told of each message: it is folded again.
DELETE FROM message;
DELETE FROM checkpoint WHERE name = 'messages';
