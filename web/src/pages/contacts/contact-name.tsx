import { useContact } from "../../api/names";
import { Link } from "../../shell/router";
import { nameOf } from "./name";

/** Who an id is, as soon as it is known. */
export function ContactName({ id }: { id: string }) {
  const contact = useContact(id);
  return <Link to={`/contacts/${id}`}>{contact.data ? nameOf(contact.data) : id.slice(0, 8)}</Link>;
}
