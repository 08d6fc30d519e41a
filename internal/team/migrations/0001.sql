-- Schema 1 of a team's memory. The roles are made before: see Init.

create table recalld.version (schema int not null);
insert into recalld.version values (1);

-- What a member may see and share. The project "*" stands for all.
create table recalld.access (
	member  name not null,
	project text not null check (length(project) between 1 and 512),
	primary key (member, project)
);

-- What each member says of each lesson, its newest state. Nobody changes the row of
-- another, so two members never wait for one another.
create table recalld.lesson (
	project text  not null check (length(project) between 1 and 512),
	id      text  not null check (length(id) between 1 and 128),
	member  name  not null default session_user,
	-- Null once the member took it back: the row stays, so that others learn of it.
	body    jsonb check (octet_length(body::text) <= 262144),
	hash    bytea not null check (octet_length(hash) <= 64),
	-- The transaction that wrote it, by which others find what is new.
	xid     xid8  not null default pg_current_xact_id(),
	changed timestamptz not null default now(),
	primary key (project, id, member)
);
create index lesson_by_xid on recalld.lesson (project, xid);

create function recalld.touch() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
	new.xid := pg_current_xact_id();
	new.changed := now();
	return new;
end $$;
create trigger touch before insert or update on recalld.lesson for each row execute function recalld.touch();

-- A member reads its own grants only through this function.
create function recalld.projects() returns setof text
	language sql stable security definer set search_path = pg_catalog
	as $$ select project from recalld.access where member = session_user $$;

alter table recalld.lesson enable row level security;
alter table recalld.access enable row level security;
-- The login counts, not a role that it takes on. Own rows stay visible, so that they can be
-- taken back when the access to their project has ended.
create policy own_access on recalld.access for select to recalld_members using (member = session_user);
create policy visible on recalld.lesson for select to recalld_members
	using (member = session_user or project in (select recalld.projects()) or '*' in (select recalld.projects()));
create policy own_insert on recalld.lesson for insert to recalld_members
	with check (member = session_user and (project in (select recalld.projects()) or '*' in (select recalld.projects())));
create policy own_update on recalld.lesson for update to recalld_members
	using (member = session_user)
	with check (member = session_user and (body is null or project in (select recalld.projects()) or '*' in (select recalld.projects())));

revoke all on all tables in schema recalld from public;
grant usage on schema recalld to recalld_members;
grant select on recalld.version, recalld.access to recalld_members;
grant select, insert (project, id, body, hash), update (body, hash) on recalld.lesson to recalld_members;
revoke execute on function recalld.projects() from public;
grant execute on function recalld.projects() to recalld_members;
