// What the server says went wrong, by its code. `{detail}` is what it said itself, in English: it stands where
// the words alone would not say enough.
import type { Schemas } from "../../api/client";

export const problems = {
  "problem.bad_body": ["The request broke off: {detail}", "Die Anfrage ist abgebrochen: {detail}"],
  "problem.bad_channel": [
    "The channel cannot be saved like this: {detail}",
    "So lässt sich der Kanal nicht speichern: {detail}",
  ],
  "problem.bad_choice": [
    "These messages cannot be chosen like this.",
    "So lassen sich die Nachrichten nicht auswählen.",
  ],
  "problem.bad_contact": ["The contact cannot be accepted like this.", "So kann der Kontakt nicht angenommen werden."],
  "problem.bad_content_type": [
    "The server does not read this kind of data: {detail}",
    "Diese Art Daten liest der Server nicht: {detail}",
  ],
  "problem.bad_cursor": [
    "The list has changed. Load the page anew.",
    "Die Liste hat sich geändert. Laden Sie die Seite neu.",
  ],
  "problem.bad_definition": ["The journey has faults: {detail}", "Die Journey hat Fehler: {detail}"],
  "problem.bad_document": ["The document cannot be read: {detail}", "Das Dokument lässt sich nicht lesen: {detail}"],
  "problem.bad_encoding": ["The data arrived damaged: {detail}", "Die Daten kamen beschädigt an: {detail}"],
  "problem.bad_event": ["The event was not accepted.", "Das Ereignis wurde nicht angenommen."],
  "problem.bad_filter": [
    "The server does not know this filter: {detail}",
    "Diesen Filter kennt der Server nicht: {detail}",
  ],
  "problem.bad_hex": ["Only hexadecimal digits may stand here.", "Hier dürfen nur hexadezimale Ziffern stehen."],
  "problem.bad_idempotency_key": [
    "The key against doubles is not valid: {detail}",
    "Der Schlüssel gegen Doppeltes ist ungültig: {detail}",
  ],
  "problem.bad_json": ["The server cannot read this: {detail}", "Der Server kann das nicht lesen: {detail}"],
  "problem.bad_key": ["The key cannot be made like this.", "So lässt sich der Schlüssel nicht anlegen."],
  "problem.bad_members": ["The members cannot be changed like this.", "So lassen sich die Mitglieder nicht ändern."],
  "problem.bad_message": ["The message cannot be sent like this.", "So lässt sich die Nachricht nicht senden."],
  "problem.bad_parameter": [
    "Something in the request does not fit: {detail}",
    "Etwas in der Anfrage passt nicht: {detail}",
  ],
  "problem.bad_proof": ["The proof does not hold: {detail}", "Der Beweis hält nicht: {detail}"],
  "problem.bad_segment": [
    "The segment cannot be saved like this: {detail}",
    "So lässt sich das Segment nicht speichern: {detail}",
  ],
  "problem.bad_slack_workspace": [
    "The Slack workspace cannot be saved like this: {detail}",
    "So lässt sich der Slack-Workspace nicht speichern: {detail}",
  ],
  "problem.bad_source": [
    "The document needs another name: {detail}",
    "Das Dokument braucht einen anderen Namen: {detail}",
  ],
  "problem.bad_standing": [
    "The state of the journey does not allow this: {detail}",
    "Der Zustand der Journey lässt das nicht zu: {detail}",
  ],
  "problem.bad_suppression": ["The block cannot be entered like this.", "So lässt sich die Sperre nicht eintragen."],
  "problem.bad_template": ["The template has faults: {detail}", "Die Vorlage hat Fehler: {detail}"],
  "problem.bad_trigger": [
    "Nobody can be put into the journey like this.",
    "So lässt sich niemand in die Journey setzen.",
  ],
  "problem.bad_user": ["The user cannot be saved like this.", "So lässt sich der Benutzer nicht speichern."],
  "problem.bad_version_id": ["This is not the id of a version.", "Das ist nicht die Id einer Version."],
  "problem.bundles_off": [
    "Bundles are off: HEADERS_SOURCE has to say where block headers are.",
    "Bundles sind aus: HEADERS_SOURCE muss sagen, wo die Blockköpfe liegen.",
  ],
  "problem.cannot_render": [
    "The text cannot be put together: {detail}",
    "Der Text lässt sich nicht zusammensetzen: {detail}",
  ],
  "problem.changed": [
    "Somebody else has changed this meanwhile. Look at it anew.",
    "Jemand anderes hat das inzwischen geändert. Sehen Sie es sich neu an.",
  ],
  "problem.conflict": ["This contradicts what is there: {detail}", "Das widerspricht dem, was schon da ist: {detail}"],
  "problem.csrf": [
    "The sign-in has expired, or another site asked. Load the page anew.",
    "Die Anmeldung ist abgelaufen, oder eine fremde Seite hat gefragt. Laden Sie die Seite neu.",
  ],
  "problem.dynamic_segment": [
    "The members follow from the expression; they cannot be chosen by hand.",
    "Die Mitglieder folgen aus dem Ausdruck; von Hand lassen sie sich nicht wählen.",
  ],
  "problem.ended": ["The run has ended already.", "Der Durchlauf ist schon zu Ende."],
  "problem.forbidden": ["Your role does not allow this.", "Ihre Rolle erlaubt das nicht."],
  "problem.gone": ["It was there, and was taken away.", "Das gab es, und es wurde weggenommen."],
  "problem.idempotency_key_reused": [
    "The same key came with other content.",
    "Derselbe Schlüssel kam mit anderem Inhalt.",
  ],
  "problem.internal": [
    "The server has a fault. Its log has the cause.",
    "Im Server ist ein Fehler aufgetreten. Die Ursache steht in seinem Protokoll.",
  ],
  "problem.last_owner": ["One owner has to remain.", "Mindestens ein Owner muss bleiben."],
  "problem.method_not_allowed": ["This cannot be done here.", "Das geht an dieser Stelle nicht."],
  "problem.name_taken": ["The name is taken.", "Der Name ist schon vergeben."],
  "problem.no_draft": ["There is no draft to publish.", "Es gibt keinen Entwurf, der veröffentlicht werden könnte."],
  "problem.no_secret_key": [
    "The secret cannot be kept: the server has no key to seal it with. {detail}",
    "Das Geheimnis lässt sich nicht aufbewahren: dem Server fehlt der Schlüssel dafür. {detail}",
  ],
  "problem.not_a_document": [
    "This is a part of a document, not a document.",
    "Das ist ein Teil eines Dokuments, kein Dokument.",
  ],
  "problem.not_found": ["There is nothing here, or nothing any more.", "Hier ist nichts, oder nichts mehr."],
  "problem.overtaken": [
    "Another version was published in the same moment. Look at it first.",
    "Im selben Augenblick wurde eine andere Version veröffentlicht. Sehen Sie sich diese zuerst an.",
  ],
  "problem.segment_in_use": ["The segment is in use: {detail}", "Das Segment wird gebraucht: {detail}"],
  "problem.setup_required": [
    "There is no user yet: the first one is made with an admin key.",
    "Es gibt noch keinen Benutzer: der erste wird mit einem Admin-Schlüssel angelegt.",
  ],
  "problem.signed_out": ["You are not signed in any more.", "Sie sind nicht mehr angemeldet."],
  "problem.timeout": ["The data did not arrive in time.", "Die Daten kamen nicht rechtzeitig an."],
  "problem.too_large": ["This is too large: {detail}", "Das ist zu groß: {detail}"],
  "problem.too_many": ["There are too many already: {detail}", "Davon gibt es schon zu viele: {detail}"],
  "problem.too_many_attempts": [
    "Too many wrong passwords. Wait a little, and try again.",
    "Zu viele falsche Passwörter. Warten Sie etwas, und versuchen Sie es erneut.",
  ],
  "problem.too_many_rows": ["These are too many rows at once.", "Das sind zu viele Zeilen auf einmal."],
  "problem.twice": ["A document is there twice: {detail}", "Ein Dokument kommt doppelt vor: {detail}"],
  "problem.unauthorized": [
    "The admin key is wrong, or nobody is signed in.",
    "Der Admin-Schlüssel ist falsch, oder niemand ist angemeldet.",
  ],
  "problem.unavailable": [
    "The server is busy right now. Try again in a moment; nothing was changed.",
    "Der Server ist gerade ausgelastet. Versuchen Sie es gleich erneut; nichts wurde geändert.",
  ],
  "problem.unknown_encoding": [
    "The server cannot unpack this: {detail}",
    "Der Server kann das nicht auspacken: {detail}",
  ],
  "problem.wrong_password": [
    "The e-mail address or the password is wrong.",
    "Die E-Mail-Adresse oder das Passwort ist falsch.",
  ],
} as const satisfies Record<`problem.${Schemas["ProblemCode"]}`, readonly [string, string]>;
