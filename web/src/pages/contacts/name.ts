import type { Schemas } from "../../api/client";
import { valueText } from "../../ui/values";

/** What a contact is called on the pages: the best of what is known. */
export function nameOf(contact: Schemas["ContactView"]): string {
  const attributes = contact.attributes as Record<string, unknown>;
  const full = [attributes.first_name, attributes.last_name].filter(Boolean).map(valueText).join(" ");
  return (
    full ||
    valueText(attributes.name ?? "") ||
    contact.email ||
    contact.user_id ||
    contact.anonymous_ids[0] ||
    contact.id.slice(0, 8)
  );
}
