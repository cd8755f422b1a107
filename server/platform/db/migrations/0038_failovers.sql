-- What is under way of the exchange of a primary and its standby: fencing, in which both are stopped, and giving, in which each has the volume of
-- the other and takes it over. Null while nothing is.
ALTER TABLE datastores ADD COLUMN failover TEXT;
