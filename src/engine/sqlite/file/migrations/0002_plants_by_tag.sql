-- Pages of plants by tag. Plants without a tag cost it nothing.
CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;
