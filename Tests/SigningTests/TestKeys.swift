// SPDX-License-Identifier: Apache-2.0

/// Keys made for these tests and used nowhere else.
enum TestKeys {
    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAMbmICXcEo7g7C0I
        ZLkghST8JOg2VuMVtWkKR65vFnJLu12uMvT4wrXYMvH2CWSDyLyh6pCoPP63j1mF
        GJ4Y6XUMsVXYDZ8ufZ0hTA+5vExk1hBf+pJLJKim3SpYuzzsnEXh0CMmf/21Q/hq
        mrdAyCk00PWvBxdNR3mVL1m24upHAgMBAAECgYEAm0ylv0nlR6BBaCwMkSveKfGi
        U5nSH78chWacb4uXaCjPpCbW7MWrKlcj+B7WWKA5RWfbgZWLAouKpygv/4mOBhEn
        3eFU4hewHsTqUmIF8wPf5cNnKrBGm/ga+8+V6Og3bjVU2dJvyPNTENEee/vw59rT
        Q5xOdIXeQgaGBRp11YECQQDnCdMTqPj8PoNMr91DrIGP/Z8Ph8Au+APlzRSTn8B0
        etYILc/RZz3euGWJlnv+NNV6wyMPalVNeI9c9gNtZ6zBAkEA3GNfPbVDQyuFxDck
        tOfW6L3/3Q2ysKbpXpPI+T5IkHFUfabVEcfPxDwZGBTKVDdOUzcUNTEVKixg3jAQ
        TMxxBwJAKWI2H9BlgPFFnYfmz0doEb2xLxv2zbL5J8F7TRIRbAvQqLhkADNI/sry
        zRlabmdSUeIANrOqQe01aMZcSM2IQQJBAJ6zbE0Kb1I6UAw4zVT8MhTNZSdwisGM
        oDZ741ggEq74/SeycHJqWWHtCQD/T6ePX/aqjgGzw5Ln/CVjpQk4mxcCQQDbt3U1
        rRCFWmBVFwIQhsQ4LRCheU6uV+jDq/zgY5ghPZTB+BptkCNtIlYyDDDQ3DmoN/MX
        zlOfkNjf6wrBewnS
        -----END PRIVATE KEY-----
        """

    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDD0Re7bGZfAoUWMqvPT
        IMxwwlFHlfcQ3S49wJquKp+J44mI8FUGNzEVw8fwift70oWhZANiAAShRj1Zw3l9
        dnTVMiVoVWAoph9Hc3cP2eUhJGOi28kcXRRimYsmSgZgC2lF8E0pVRhUFc0I/xQR
        TpC/GRkO01bOgM3Qxy+d+fU7jlAR0Yisjci1DMZMiiE1WZMKjqDmm+Y=
        -----END PRIVATE KEY-----
        """

    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINhZxcweBYAc2tMh+lU5SVkGy3bYmSM0MAcauj5Qu0JN
        -----END PRIVATE KEY-----
        """

    static let encryptedP256 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgcCKtQ7undWQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEM0eHjpiNWHKh5GTfiojzsEEgZAx
        ubRvB8O1LGsvHTLAL+Xg8Wa7t4LP6ocqHYc3OZw+mGjACP+Unv50ycNSL4vulmr4
        3p6W8lMRIbySf6GNL8N8llRkDbW1ZMp0K24GgzU7M3LBUwK9+jREBUSy29ziCDqC
        cZe0YVwHZ1feC9j68y4JTPZG1+hWTDmog7BP006rAR265cfzHxKjSwSzZCJN/qE=
        -----END ENCRYPTED PRIVATE KEY-----
        """

}
