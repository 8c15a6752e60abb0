//! The contract of [`kurier_store::kv`]: every case runs on every backend.
//!
//! `agreement` compares the backends on random commands, `sabotage` shows that the cases can
//! fail: each broken keyspace there is caught by the case named beside it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agreement;
mod cluster;
mod collections;
mod commands;
mod connection;
mod documents;
mod edge;
mod exact;
mod ground;
mod lifetime;
mod pipelines;
mod sabotage;
mod scans;
mod scripts;
mod sentinel;
mod servers;
mod sorted;
mod values;

macro_rules! contract {
    ($($module:ident::$case:ident,)*) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                crate::kv_contract::ground::check(crate::kv_contract::ground::memory(), crate::kv_contract::$module::$case).await;
            })*
        }

        mod redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                crate::kv_contract::ground::check(crate::kv_contract::ground::redis().await, crate::kv_contract::$module::$case).await;
            })*
        }

        mod redis_cluster {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                crate::kv_contract::ground::check(crate::kv_contract::ground::cluster().await, crate::kv_contract::$module::$case).await;
            })*
        }
    };
}

contract! {
    collections::an_added_item_is_new_only_once,
    collections::an_emptied_collection_is_gone,
    collections::an_empty_list_asks_for_nothing,
    collections::a_hash_keeps_its_other_fields,
    collections::changing_a_collection_keeps_its_ttl,
    collections::a_missing_collection_reads_as_empty,
    collections::one_type_is_not_another,
    documents::a_large_document_is_swapped_in_whole,
    documents::a_long_document_is_brought_in_and_replaced_whole,
    documents::of_what_was_lost_aside_nothing_is_brought_in,
    documents::every_kind_of_value_is_swapped_in,
    documents::nothing_older_is_swapped_in,
    documents::what_was_there_goes_and_what_others_have_stays,
    edge::a_tenant_that_is_not_whole_is_not_written_to,
    edge::data_index_hint_and_deduplication_are_written_together,
    edge::what_is_older_or_known_is_left_out,
    edge::an_entity_leaves_and_enters_indexes_and_they_are_counted,
    edge::a_rebuild_heeds_neither_hints_nor_deduplication_but_what_is_newer,
    edge::what_is_offered_asks_the_hint_and_leaves_it_as_it_is,
    edge::of_the_same_revision_what_was_read_later_stays,
    lifetime::a_set_value_expires,
    lifetime::a_plain_set_forgets_the_ttl,
    lifetime::a_ttl_can_be_given_renewed_and_taken,
    lifetime::an_expired_key_is_absent_for_every_command,
    lifetime::expire_with_zero_deletes,
    lifetime::a_ttl_out_of_range_is_refused,
    lifetime::a_lock_is_held_until_released_by_its_owner,
    lifetime::a_lock_carries_its_ttl,
    lifetime::an_expired_lock_can_be_taken_again,
    lifetime::an_increment_sets_the_ttl_only_on_creation,
    lifetime::an_expired_counter_starts_again_with_a_new_ttl,
    lifetime::only_what_never_expires_is_deleted,
    pipelines::replies_come_in_order,
    pipelines::a_failing_command_does_not_swallow_the_others,
    pipelines::an_empty_pipeline_answers_nothing,
    pipelines::scripted_commands_work_between_others,
    pipelines::a_ping_is_answered,
    scans::a_scan_covers_the_prefix_and_ends,
    scans::a_prefix_is_not_a_pattern,
    scans::a_scan_survives_deletion_between_pages,
    scans::a_scan_does_not_show_the_dead,
    scans::a_page_without_room_is_refused,
    scripts::a_script_sees_keys_and_arguments,
    scripts::a_script_answers_integers_values_and_lists,
    scripts::an_older_value_is_not_set,
    scripts::a_value_is_set_only_where_the_same_still_stands,
    scripts::an_unknown_script_is_taught,
    scripts::scripts_do_not_lose_updates,
    scripts::scripts_see_all_their_keys_at_once,
    scripts::a_script_reports_a_wrong_type,
    scripts::a_failed_script_keeps_what_it_wrote,
    sorted::equal_scores_are_ordered_by_bytes,
    sorted::a_new_score_moves_the_member,
    sorted::ranks_count_from_either_end,
    sorted::scores_are_bounded_as_asked,
    sorted::infinite_scores_are_at_the_ends,
    sorted::negative_zero_equals_zero,
    sorted::a_score_must_be_a_number,
    values::bytes_come_back_as_they_went,
    values::unicode_is_kept_in_keys_and_fields,
    values::an_empty_value_is_a_value,
    values::integers_are_exact_to_the_last,
    values::what_is_not_an_integer_cannot_be_counted,
    values::an_overflow_is_refused_and_changes_nothing,
}
