/** OpenID Connect providers of a hosted control plane. They become an AuthenticationConfiguration of the API server. */

/** An issuer of JSON Web Tokens. */
export interface OIDCProvider {
  /** Certificates (PEM) that verify the TLS connection to the issuer. If unset, the certificates of the image. */
  certificateAuthority?: string;
  /**
   * Accepted audiences. A token must have at least one of them.
   *
   * @listType set
   * @minItems 1
   * @maxItems 64
   */
  audiences: string[];
  /**
   * Conditions on the claims. A token must satisfy all of them.
   *
   * @listType atomic
   * @maxItems 64
   */
  claimValidationRules?: OIDCClaimValidationRule[];
  /** How claims become a user. */
  claimMappings: OIDCClaimMappings;
}

export interface OIDCClaimValidationRule {
  /**
   * CEL expression that must be true.
   *
   * @minLength 1
   */
  expression: string;
  /** Error message for a token that does not satisfy the rule. */
  message?: string;
}

export interface OIDCClaimMappings {
  /**
   * CEL expression of the user name.
   *
   * @minLength 1
   */
  username: string;
  /** CEL expression of the groups: a string or a list of strings. */
  groups?: string;
}
