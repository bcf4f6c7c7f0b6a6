import type { RequestParameter } from './request-parameter.ts';

/** How a status read names its payment: by one of the two. */
export const statusParameters = {
  ipn_token: {
    isRequired: false,
    isNullable: false,
    schema: { type: 'string', minLength: 1 },
    description:
      'The token that create answered with. It takes precedence: with it, `payment_id` is not looked at.',
    example: 'ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4',
  },
  payment_id: {
    isRequired: false,
    isNullable: false,
    schema: { type: 'string', minLength: 1 },
    description: "The payment's id, in upper or lower case.",
    example: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  },
} as const satisfies Record<string, RequestParameter>;

/** Name of a parameter of a status read. */
export type StatusParameterName = keyof typeof statusParameters;
