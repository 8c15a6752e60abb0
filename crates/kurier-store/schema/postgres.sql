table api_key: workspace uuid not null
table api_key: id uuid not null
table api_key: name text not null
table api_key: hash bytea not null
table api_key: scopes text not null
table api_key: created_at bigint not null
table api_key: expires_at bigint
table api_key: revoked_at bigint
table api_key: api_key_workspace_fkey FOREIGN KEY (workspace) REFERENCES workspace(id)
table audit: workspace uuid not null
table audit: position bigint not null
table audit: at bigint not null
table audit: kind text not null
table audit: subject text
table audit: operator text
table bundle_audit: workspace uuid not null
table bundle_audit: version_id text not null
table bundle_audit: number bigint not null
table bundle_audit: verdict text not null
table bundle_audit: block_hash text
table bundle_audit: block_height bigint
table bundle_audit: proof_sha256 text
table bundle_audit: tip_hash text
table bundle_audit: tip_height bigint
table bundle_audit: reorg_flag boolean not null
table bundle_audit: verified_at bigint not null
table bundle_audit: created_at bigint not null
table channel: workspace uuid not null
table channel: name text not null
table channel: settings text not null
table channel: secrets bytea
table channel: revision bigint not null
table channel: changed_at bigint not null
table channel: channel_workspace_fkey FOREIGN KEY (workspace) REFERENCES workspace(id)
table channel_health: workspace uuid not null
table channel_health: channel text not null
table channel_health: sent bigint not null
table channel_health: retried bigint not null
table channel_health: failed bigint not null
table channel_health: skipped bigint not null
table channel_health: unknown bigint not null
table channel_health: failing bigint not null
table channel_health: last_sent_at bigint
table channel_health: last_failed_at bigint
table checkpoint: name text not null
table checkpoint: position bigint not null
table checkpoint: paused boolean not null default false
table checkpoint: failure text
table checkpoint: failed_at bigint
table checkpoint: last_failure text
table checkpoint: last_failed_at bigint
table contact: workspace uuid not null
table contact: id uuid not null
table contact: standing text not null
table contact: merged_into uuid
table contact: user_id text
table contact: email text
table contact: phone text
table contact: attributes jsonb
table contact: identifiers jsonb
table contact: created_at bigint
table contact: updated_at bigint
table contact: last_seen_at bigint
table contact: event_count bigint
table contact: erased_at bigint
table contact: revision bigint
table contact_window: workspace uuid not null
table contact_window: channel text not null
table contact_window: recipient uuid not null
table contact_window: since bigint not null
table contact_window: count integer not null
table content_body: workspace uuid not null
table content_body: id uuid not null
table content_body: body text not null
table content_counter: workspace uuid not null
table content_counter: node_type text not null
table content_counter: identifier text not null
table content_counter: used bigint not null
table content_document: workspace uuid not null
table content_document: id uuid not null
table content_document: source_id text not null
table content_document: key text not null
table content_document: title text not null
table content_document: nodes bigint not null
table content_document: sha256 text not null
table content_document: settings text not null
table content_document: collections text not null
table content_document: import bigint not null
table content_document: changed_at bigint not null
table content_document: revision bigint not null
table content_import: workspace uuid not null
table content_import: number bigint not null
table content_import: at bigint not null
table content_import: operator text
table content_import: documents bigint not null
table content_import: given bigint not null
table content_import: gone bigint not null
table content_node: workspace uuid not null
table content_node: key text not null
table content_node: document uuid not null
table content_node: gone_at bigint
table content_node: gone_by bigint
table content_state: workspace uuid not null
table content_state: imports bigint not null
table daily_count: workspace uuid not null
table daily_count: day bigint not null
table daily_count: kind text not null
table daily_count: channel text not null
table daily_count: times bigint not null
table daily_count: revision bigint not null
table erasure: workspace uuid not null
table erasure: address uuid not null
table erasure: erased_at bigint not null
table gate: workspace uuid not null
table gate: channel text not null
table gate: state text not null
table idempotency: workspace uuid not null
table idempotency: key text not null
table idempotency: fingerprint bytea not null
table idempotency: message uuid not null
table idempotency: created_at bigint not null
table journey: workspace uuid not null
table journey: id uuid not null
table journey: name text not null
table journey: draft text
table journey: version bigint
table journey: standing text not null
table journey: segments text
table journey: created_at bigint not null
table journey: changed_at bigint not null
table journey_count: workspace uuid not null
table journey_count: journey uuid not null
table journey_count: version bigint not null
table journey_count: node text not null
table journey_count: way text not null
table journey_count: target text not null
table journey_count: times bigint not null
table journey_instance: workspace uuid not null
table journey_instance: id uuid not null
table journey_instance: journey uuid not null
table journey_instance: version bigint not null
table journey_instance: contact uuid
table journey_instance: run_key text
table journey_instance: begun_by uuid
table journey_instance: status text not null
table journey_instance: ending text
table journey_instance: node text not null
table journey_instance: held bigint not null
table journey_instance: awaits text
table journey_instance: wake bigint
table journey_instance: seq bigint not null
table journey_instance: steps bigint not null
table journey_instance: entered_at bigint not null
table journey_instance: moved_at bigint not null
table journey_instance: ended_at bigint
table journey_instance: message uuid
table journey_instance: message_node text
table journey_instance: state text
table journey_path: workspace uuid not null
table journey_path: instance uuid not null
table journey_path: seq bigint not null
table journey_path: moved_at bigint not null
table journey_path: hops text not null
table journey_path: omitted bigint not null
table journey_path: messages text
table journey_version: workspace uuid not null
table journey_version: journey uuid not null
table journey_version: version bigint not null
table journey_version: definition text not null
table journey_version: published_at bigint not null
table lease: name text not null
table lease: holder uuid not null
table lease: fence bigint not null
table lease: until bigint not null
table log: position bigint not null
table log: workspace uuid not null
table log: id uuid not null
table log: kind text not null
table log: contact uuid
table log: lane smallint not null
table log: occurred_at bigint not null
table log: recorded_at bigint not null
table log: payload text not null
table log: partition by RANGE (recorded_at)
table log_archive: position bigint not null
table log_archive: workspace uuid not null
table log_archive: id uuid not null
table log_archive: kind text not null
table log_archive: contact uuid
table log_archive: lane smallint not null
table log_archive: occurred_at bigint not null
table log_archive: recorded_at bigint not null
table log_archive: payload text not null
table log_archive: partition by RANGE (recorded_at)
table log_head: one boolean not null default true
table log_head: position bigint not null
table log_head: pen bigint
table log_head: since bigint not null default 0
table log_head: log_head_one_check CHECK (one)
table log_id: workspace uuid not null
table log_id: id uuid not null
table member: workspace uuid not null
table member: segment uuid not null
table member: contact uuid not null
table member: entered_at bigint not null
table message: workspace uuid not null
table message: contact uuid not null
table message: id uuid not null
table message: journey uuid
table message: version bigint
table message: instance uuid
table message: node text
table message: channel text not null
table message: template text
table message: topic text
table message: address text
table message: priority bigint not null
table message: state text not null
table message: reason text
table message: code text
table message: discarded bigint not null
table message: attempts bigint not null
table message: standing text not null
table message: request text not null
table message: requested_at bigint not null
table message: changed_at bigint not null
table poison: projection text not null
table poison: position bigint not null
table poison: reason text not null
table portal_user: workspace uuid not null
table portal_user: id uuid not null
table portal_user: email text not null
table portal_user: name text not null
table portal_user: role text not null
table portal_user: password text not null
table portal_user: created_at bigint not null
table portal_user: portal_user_workspace_fkey FOREIGN KEY (workspace) REFERENCES workspace(id)
table processed_events: projection text not null
table processed_events: workspace uuid not null
table processed_events: event uuid not null
table published_head: workspace uuid not null
table published_head: kind text not null
table published_head: name text not null
table published_head: version text not null
table published_version: workspace uuid not null
table published_version: id text not null
table published_version: kind text not null
table published_version: name text not null
table published_version: content_sha256 text not null
table published_version: parents text not null
table published_version: anchor text not null
table published_version: published_at bigint not null
table published_version: changed_at bigint not null
table published_version: revision bigint not null
table queue: workspace uuid not null
table queue: id uuid not null
table queue: contact uuid
table queue: channel text not null
table queue: priority smallint not null
table queue: due_at bigint not null
table queue: lease_until bigint
table queue: fence bigint not null
table queue: attempts integer not null
table queue: payload text not null
table queue: stage smallint not null default 1
table queue: rank bigint not null default 0
table queue: before integer not null default 0
table queue: told boolean not null default false
table queue: interrupted boolean not null default false
table schema_version: version bigint not null
table segment: workspace uuid not null
table segment: id uuid not null
table segment: name text not null
table segment: expression text
table segment: created_at bigint not null
table segment: changed_at bigint not null
table segment: size bigint not null
table segment: revision bigint not null
table segment_size: workspace uuid not null
table segment_size: segment uuid not null
table segment_size: hour bigint not null
table segment_size: size bigint not null
table session: hash bytea not null
table session: workspace uuid not null
table session: user uuid not null
table session: created_at bigint not null
table session: expires_at bigint not null
table slack_workspace: workspace uuid not null
table slack_workspace: id uuid not null
table slack_workspace: name text not null
table slack_workspace: category text
table slack_workspace: default_channel text
table slack_workspace: secrets text not null
table slack_workspace: sealed text
table slack_workspace: created_at bigint not null
table slack_workspace: changed_at bigint not null
table slack_workspace: archived_at bigint
table slack_workspace: revision bigint not null
table suppression: workspace uuid not null
table suppression: address_key uuid not null
table suppression: topic text not null
table suppression: kind text not null
table suppression: address text
table suppression: contact uuid
table suppression: reason text not null
table suppression: source text not null
table suppression: created_at bigint not null
table template: workspace uuid not null
table template: id uuid not null
table template: name text not null
table template: version bigint not null
table template: topic text
table template: hash text not null
table template: reads text not null
table template: created_at bigint not null
table template: changed_at bigint not null
table template: retired_at bigint
table template_version: workspace uuid not null
table template_version: template uuid not null
table template_version: version bigint not null
table template_version: document text not null
table template_version: hash text not null
table template_version: published_at bigint not null
table timeline: workspace uuid not null
table timeline: contact uuid not null
table timeline: occurred_at bigint not null
table timeline: position bigint not null
table timeline: recorded_at bigint not null
table timeline: kind text not null
table timeline: title text
table version_proof: workspace uuid not null
table version_proof: version text not null
table version_proof: proof text not null
table version_proof: commitment text not null
table version_proof: tx text not null
table version_proof: bump text
table version_proof: header text
table version_proof: attached_at bigint not null
table version_proof: revision bigint not null
table workspace: id uuid not null
table workspace: name text not null
table workspace: secret bytea not null
table workspace: created_at bigint not null
CREATE UNIQUE INDEX api_key_hash_key ON public.api_key USING btree (hash)
CREATE UNIQUE INDEX api_key_pkey ON public.api_key USING btree (workspace, id)
CREATE UNIQUE INDEX audit_pkey ON public.audit USING btree (workspace, "position")
CREATE UNIQUE INDEX bundle_audit_pkey ON public.bundle_audit USING btree (workspace, version_id, number)
CREATE UNIQUE INDEX channel_health_pkey ON public.channel_health USING btree (workspace, channel)
CREATE UNIQUE INDEX channel_pkey ON public.channel USING btree (workspace, name)
CREATE UNIQUE INDEX checkpoint_pkey ON public.checkpoint USING btree (name)
CREATE INDEX contact_created ON public.contact USING btree (workspace, created_at, id) WHERE (standing = 'live'::text)
CREATE INDEX contact_email ON public.contact USING btree (workspace, email text_pattern_ops) WHERE (email IS NOT NULL)
CREATE UNIQUE INDEX contact_pkey ON public.contact USING btree (workspace, id)
CREATE INDEX contact_user ON public.contact USING btree (workspace, user_id text_pattern_ops) WHERE (user_id IS NOT NULL)
CREATE UNIQUE INDEX contact_window_pkey ON public.contact_window USING btree (workspace, channel, recipient)
CREATE UNIQUE INDEX content_body_pkey ON public.content_body USING btree (workspace, id)
CREATE UNIQUE INDEX content_counter_pkey ON public.content_counter USING btree (workspace, node_type, identifier)
CREATE UNIQUE INDEX content_document_pkey ON public.content_document USING btree (workspace, id)
CREATE UNIQUE INDEX content_import_pkey ON public.content_import USING btree (workspace, number)
CREATE UNIQUE INDEX content_node_pkey ON public.content_node USING btree (workspace, key)
CREATE UNIQUE INDEX content_state_pkey ON public.content_state USING btree (workspace)
CREATE UNIQUE INDEX daily_count_pkey ON public.daily_count USING btree (workspace, day, kind, channel)
CREATE UNIQUE INDEX erasure_pkey ON public.erasure USING btree (workspace, address)
CREATE UNIQUE INDEX gate_pkey ON public.gate USING btree (workspace, channel)
CREATE UNIQUE INDEX idempotency_pkey ON public.idempotency USING btree (workspace, key)
CREATE UNIQUE INDEX journey_count_pkey ON public.journey_count USING btree (workspace, journey, version, node, way, target)
CREATE INDEX journey_instance_at ON public.journey_instance USING btree (workspace, journey, node, entered_at, id) WHERE (status = 'active'::text)
CREATE INDEX journey_instance_contact ON public.journey_instance USING btree (workspace, contact)
CREATE INDEX journey_instance_entered ON public.journey_instance USING btree (workspace, journey, entered_at, id)
CREATE UNIQUE INDEX journey_instance_pkey ON public.journey_instance USING btree (workspace, id)
CREATE UNIQUE INDEX journey_path_pkey ON public.journey_path USING btree (workspace, instance, seq)
CREATE UNIQUE INDEX journey_pkey ON public.journey USING btree (workspace, id)
CREATE UNIQUE INDEX journey_version_pkey ON public.journey_version USING btree (workspace, journey, version)
CREATE UNIQUE INDEX lease_pkey ON public.lease USING btree (name)
CREATE UNIQUE INDEX log_archive_pkey ON ONLY public.log_archive USING btree ("position", recorded_at)
CREATE UNIQUE INDEX log_head_pkey ON public.log_head USING btree (one)
CREATE UNIQUE INDEX log_id_pkey ON public.log_id USING btree (workspace, id)
CREATE UNIQUE INDEX log_pkey ON ONLY public.log USING btree ("position", recorded_at)
CREATE INDEX member_contact ON public.member USING btree (workspace, contact)
CREATE UNIQUE INDEX member_pkey ON public.member USING btree (workspace, segment, contact)
CREATE INDEX message_ended ON public.message USING btree (workspace, requested_at, id) WHERE ((state = ANY (ARRAY['failed'::text, 'skipped'::text, 'unknown'::text])) AND (discarded = 0))
CREATE INDEX message_id ON public.message USING btree (workspace, id)
CREATE INDEX message_instance ON public.message USING btree (workspace, instance) WHERE (instance IS NOT NULL)
CREATE UNIQUE INDEX message_pkey ON public.message USING btree (workspace, contact, id)
CREATE INDEX message_recent ON public.message USING btree (workspace, requested_at, id)
CREATE UNIQUE INDEX poison_pkey ON public.poison USING btree (projection, "position")
CREATE UNIQUE INDEX portal_user_email_key ON public.portal_user USING btree (email)
CREATE UNIQUE INDEX portal_user_pkey ON public.portal_user USING btree (workspace, id)
CREATE UNIQUE INDEX processed_events_pkey ON public.processed_events USING btree (projection, workspace, event)
CREATE UNIQUE INDEX published_head_pkey ON public.published_head USING btree (workspace, kind, name)
CREATE INDEX published_version_changed ON public.published_version USING btree (revision)
CREATE INDEX published_version_newest ON public.published_version USING btree (workspace, published_at, id)
CREATE UNIQUE INDEX published_version_pkey ON public.published_version USING btree (workspace, id)
CREATE INDEX queue_claimed ON public.queue USING btree (lease_until) WHERE (stage = 2)
CREATE UNIQUE INDEX queue_pkey ON public.queue USING btree (workspace, id)
CREATE INDEX queue_ready ON public.queue USING btree (workspace, channel, rank) WHERE (stage = 0)
CREATE INDEX queue_waiting ON public.queue USING btree (due_at) WHERE (stage = 1)
CREATE UNIQUE INDEX segment_pkey ON public.segment USING btree (workspace, id)
CREATE UNIQUE INDEX segment_size_pkey ON public.segment_size USING btree (workspace, segment, hour)
CREATE INDEX session_expires ON public.session USING btree (expires_at)
CREATE INDEX session_of_user ON public.session USING btree (workspace, "user")
CREATE UNIQUE INDEX session_pkey ON public.session USING btree (hash)
CREATE UNIQUE INDEX slack_workspace_pkey ON public.slack_workspace USING btree (workspace, id)
CREATE UNIQUE INDEX suppression_pkey ON public.suppression USING btree (workspace, address_key, topic)
CREATE INDEX suppression_recent ON public.suppression USING btree (workspace, created_at, address_key, topic)
CREATE UNIQUE INDEX template_pkey ON public.template USING btree (workspace, id)
CREATE UNIQUE INDEX template_version_pkey ON public.template_version USING btree (workspace, template, version)
CREATE UNIQUE INDEX timeline_pkey ON public.timeline USING btree (workspace, contact, occurred_at, "position")
CREATE UNIQUE INDEX version_proof_pkey ON public.version_proof USING btree (workspace, version, proof)
CREATE UNIQUE INDEX workspace_name_key ON public.workspace USING btree (name)
CREATE UNIQUE INDEX workspace_pkey ON public.workspace USING btree (id)
CREATE OR REPLACE FUNCTION public.log_append(known bigint, missed_max bigint, asked bigint[], workspaces uuid[], ids uuid[], kinds text[], contacts uuid[], lanes smallint[], occurred bigint[], recorded bigint[], payloads text[], own_pen bigint DEFAULT NULL::bigint, OUT before bigint, OUT repeats bigint[], OUT missed_workspaces uuid[], OUT missed_ids uuid[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  count bigint := cardinality(ids);
  own_since bigint;
BEGIN
  UPDATE log_head SET position = position + count, pen = own_pen,
    since = CASE WHEN pen = own_pen THEN since ELSE position END
  RETURNING position - count, since INTO before, own_since;
  -- What came behind the known is all from this pen, and nothing of this batch is among it.
  IF known < least(before, own_since) THEN
    IF before - known > missed_max THEN
      RAISE EXCEPTION 'others have appended % events since', before - known USING ERRCODE = 'KU001';
    END IF;
    SELECT array_agg(s.workspace), array_agg(s.id) INTO missed_workspaces, missed_ids
    FROM log_slice(known, before) AS s;
    SELECT array_agg(o) INTO repeats
    FROM unnest(workspaces, ids) WITH ORDINALITY AS t (w, i, o)
    JOIN unnest(missed_workspaces, missed_ids) AS m (w, i) USING (w, i);
  END IF;
  IF cardinality(asked) > 0 THEN
    SELECT repeats || array_agg(o) INTO repeats FROM unnest(asked) AS a (o)
    JOIN log_id l ON l.workspace = workspaces[o] AND l.id = ids[o];
  END IF;
  IF repeats IS NULL THEN
    INSERT INTO log
    SELECT before + o, w, i, k, c, l, oc, re, p
    FROM unnest(workspaces, ids, kinds, contacts, lanes, occurred, recorded, payloads)
      WITH ORDINALITY AS t (w, i, k, c, l, oc, re, p, o);
  ELSE
    SELECT array_agg(DISTINCT o) INTO repeats FROM unnest(repeats) AS r (o);
    UPDATE log_head SET position = before + count - cardinality(repeats);
    INSERT INTO log
    SELECT before + row_number() OVER (ORDER BY o), w, i, k, c, l, oc, re, p
    FROM unnest(workspaces, ids, kinds, contacts, lanes, occurred, recorded, payloads)
      WITH ORDINALITY AS t (w, i, k, c, l, oc, re, p, o)
    WHERE NOT EXISTS (SELECT FROM unnest(repeats) AS r (o) WHERE r.o = t.o);
  END IF;
END $function$

CREATE OR REPLACE FUNCTION public.log_append_within(workspaces uuid[], ids uuid[], kinds text[], contacts uuid[], lanes smallint[], occurred bigint[], recorded bigint[], payloads text[], OUT before bigint, OUT fresh bigint[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  count bigint;
BEGIN
  BEGIN
    INSERT INTO log_id (workspace, id)
    SELECT w, i FROM unnest(workspaces, ids) AS t (w, i) ORDER BY w, i;
    count := cardinality(ids);
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO log_id (workspace, id)
    SELECT w, i FROM unnest(workspaces, ids) AS t (w, i) ORDER BY w, i
    ON CONFLICT DO NOTHING;
    -- New are those that this very transaction wrote.
    SELECT coalesce(array_agg(o ORDER BY o), '{}') INTO fresh FROM (
      SELECT DISTINCT ON (w, i) o
      FROM unnest(workspaces, ids) WITH ORDINALITY AS t (w, i, o)
      JOIN log_id l ON l.workspace = w AND l.id = i AND l.xmin = pg_current_xact_id()::xid
      ORDER BY w, i, o) AS firsts;
    count := cardinality(fresh);
  END;
  UPDATE log_head SET position = position + count, pen = NULL
  RETURNING position - count INTO before;
  IF fresh IS NULL THEN
    INSERT INTO log
    SELECT before + o, w, i, k, c, l, oc, re, p
    FROM unnest(workspaces, ids, kinds, contacts, lanes, occurred, recorded, payloads)
      WITH ORDINALITY AS t (w, i, k, c, l, oc, re, p, o);
  ELSE
    INSERT INTO log
    SELECT before + n, workspaces[o], ids[o], kinds[o], contacts[o], lanes[o],
      occurred[o], recorded[o], payloads[o]
    FROM unnest(fresh) WITH ORDINALITY AS t (o, n);
  END IF;
END $function$

CREATE OR REPLACE FUNCTION public.log_index(slice bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  sent constant text[] := '{identify,track,page,screen,group,alias}';
  indexed bigint;
  target bigint;
BEGIN
  SELECT position INTO indexed FROM checkpoint WHERE name = 'log_id' FOR UPDATE;
  SELECT least(indexed + slice, position) INTO target FROM log_head;
  BEGIN
    INSERT INTO log_id (workspace, id)
    SELECT s.workspace, s.id FROM log_slice(indexed, target) AS s
    WHERE s.kind = ANY (sent) ORDER BY 1, 2;
    INSERT INTO log_id (workspace, id)
    SELECT s.workspace, s.id FROM log_slice(indexed, target) AS s
    WHERE s.kind <> ALL (sent) ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO log_id (workspace, id)
    SELECT s.workspace, s.id FROM log_slice(indexed, target) AS s
    ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  END;
  UPDATE checkpoint SET position = target WHERE name = 'log_id';
  RETURN target;
END $function$

CREATE OR REPLACE FUNCTION public.log_slice(after bigint, upto bigint)
 RETURNS TABLE(workspace uuid, id uuid, kind text)
 LANGUAGE sql
 STABLE
AS $function$
  SELECT workspace, id, kind FROM log_archive WHERE position > after AND position <= upto
  UNION ALL
  SELECT workspace, id, kind FROM log WHERE position > after AND position <= upto
$function$

