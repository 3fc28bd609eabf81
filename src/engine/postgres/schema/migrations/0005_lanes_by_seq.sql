-- A step finds its row by key and number, past none of the older versions that a long snapshot keeps. The lanes stay: older
-- processes work on until they connect again.
ALTER TABLE lanes DROP CONSTRAINT lanes_pkey, ADD PRIMARY KEY (lane, seq);
