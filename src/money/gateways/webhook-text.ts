import { z } from 'zod'

/** An identifier, kind or reference in an event of a payment processor; the database stores no NUL. */
export const webhookText = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !text.includes('\0'))
