-- compatible
-- A release tells the year of the earliest approval: it is found without reading every project.
create index project_approved on project (approved_date);
