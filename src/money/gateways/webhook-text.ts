import { textType } from '../../kernel/read-object.js'

/** An identifier, kind or reference in an event of a payment processor. */
export const webhookText = textType(1, 255)
