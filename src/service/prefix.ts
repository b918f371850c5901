/** A path in front of `/v1`, or nothing. */
export const PREFIX_FORM = /^(?:\/[A-Za-z0-9._~-]+)*$/;
