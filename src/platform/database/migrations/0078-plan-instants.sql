-- compatible
-- A claim that was lost could make a plan due before its instant, so that a month was charged early. The rows are few: those
-- that this happened to, among the plans in force.
update donation_plan set look_at = next_at where state = 'active' and look_at < next_at;
alter table donation_plan add constraint donation_plan_not_early
  check (state <> 'active' or look_at >= next_at) not valid;
